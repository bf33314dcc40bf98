import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { EmbedderFault } from "../../src/embeddings/embedder.ts";
import { openAiEmbedder } from "../../src/embeddings/openai.ts";
import { type Entry, OpenAiDouble } from "../support/openai-double.ts";

let double: OpenAiDouble;
beforeAll(async () => {
  double = await OpenAiDouble.start();
});
afterAll(() => double.stop());
afterEach(() => {
  double.reset();
  vi.unstubAllEnvs();
});

type Options = Parameters<typeof openAiEmbedder>[0];
const open = (options: Partial<Options> = {}) =>
  openAiEmbedder({
    apiKey: double.key,
    baseUrl: double.url,
    model: "text-embedding-3-small",
    dimensions: undefined,
    ...options,
  });
const embed = async (texts: readonly string[], options: Partial<Options> = {}) =>
  (await open(options)).embed(texts, "query");
const faultOf = async (texts: readonly string[], options: Partial<Options> = {}) => {
  const error = await embed(texts, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(EmbedderFault);
  const fault = error as EmbedderFault;
  expect(`${fault.message} ${fault.hint} ${fault.cause}`).not.toMatch(/quokka|sk-openai/);
  return fault;
};
const lengthOf = (vector: Float32Array | null | undefined) => Math.hypot(...(vector ?? []));
const sent = () => double.received.map(({ body }) => body);

test("texts become vectors of length 1, asked for as floats and without dimensions that nobody set", async () => {
  const [one, two, again] = await embed(["oat milk", "three cats", "oat milk"]);
  expect(one).toHaveLength(1_536);
  expect(lengthOf(one)).toBeCloseTo(1, 5);
  expect(two).not.toEqual(one);
  expect(again).toEqual(one);
  expect(sent()).toEqual([
    {
      model: "text-embedding-3-small",
      input: ["oat milk", "three cats", "oat milk"],
      encoding_format: "float",
    },
  ]);
});

test("a query that the provider answers in another order gets its own vectors", async () => {
  const right = await embed(["one", "two", "three"]);
  double.next({ entries: (entries) => entries.toReversed() });
  expect(await embed(["one", "two", "three"])).toEqual(right);
});

test("dimensions that are set are asked for, and part of the fingerprint", async () => {
  const embedder = await open({ dimensions: 256 });
  expect(await embedder.model()).toEqual({
    fingerprint: "openai/text-embedding-3-small/256/v1",
    dimensions: 256,
    floor: 0.2,
    mergeThreshold: 0.92,
  });
  const [vector] = await embedder.embed(["oat milk"], "background");
  expect(vector).toHaveLength(256);
  expect(sent()).toMatchObject([{ dimensions: 256 }]);
});

test("the size of an unknown model's vectors is asked for once", async () => {
  const embedder = await open({ model: "nomic-embed-text" });
  const model = await embedder.model();
  expect(model).toMatchObject({ fingerprint: "openai/nomic-embed-text/8/v1", floor: 0 });
  await embedder.model();
  await embedder.embed(["oat milk"], "query");
  expect(sent().map(({ input }) => input)).toEqual([["hello"], ["oat milk"]]);
});

test("a server of one's own without keys is asked without one, whatever else is set on the machine", async () => {
  vi.stubEnv("OPENAI_API_KEY", "somebody-else");
  vi.stubEnv("OPENAI_ORG_ID", "org-somebody-else");
  vi.stubEnv("OPENAI_CUSTOM_HEADERS", "authorization: Bearer somebody-else\nx-more: 1");
  double.wantsKey = false;
  await embed(["oat milk"], { apiKey: undefined });
  await embed(["oat milk"]);
  const [without, withKey] = double.received.map(({ headers }) => headers);
  expect(without?.authorization).toBeUndefined();
  expect(withKey?.authorization).toBe(`Bearer ${double.key}`);
  expect(JSON.stringify([without, withKey])).not.toMatch(/somebody-else|x-more|x-stainless/);
});

test("texts of no word are not sent and get no vector", async () => {
  expect(await embed(["", "  \n", "?!", "🙂"])).toEqual([null, null, null, null]);
  expect(sent()).toEqual([]);
  const [nothing, something] = await embed(["", "oat milk"]);
  expect([nothing, lengthOf(something)]).toEqual([null, expect.closeTo(1, 5)]);
});

test("a long text is cut to what every model of OpenAI reads, between characters", async () => {
  await embed([`a${"é".repeat(9_000)}`, "half a pair: \ud83d"]);
  const [long = "", half] = sent()[0]?.input ?? [];
  expect(Buffer.byteLength(long)).toBe(7_999);
  expect(long).toBe(`a${"é".repeat(3_999)}`);
  expect(half).toBe("half a pair: \ufffd");
});

test("many texts go out in requests that the provider takes", async () => {
  const short = Array.from({ length: 600 }, (_, i) => `text ${i}`);
  const vectors = await embed(short, { model: "nomic-embed-text" });
  expect(vectors.every((vector) => vector?.length === 8)).toBe(true);
  expect(new Set(vectors.map(String)).size).toBe(600);
  expect(sent().map(({ input }) => input.length)).toEqual([1, 256, 256, 88]);
  double.received.length = 0;
  await embed(Array(30).fill("word ".repeat(2_000)), { model: "nomic-embed-text" });
  expect(sent().map(({ input }) => input.length)).toEqual([1, 12, 12, 6]);
});

test("one text that the provider refuses does not keep the others back", async () => {
  double.refusedWord = "wombat";
  const vectors = await embed(["one", "two", "a wombat", "four", "five"]);
  expect(vectors.map((vector) => vector !== null)).toEqual([true, true, false, true, true]);
  expect(vectors[4]).toEqual((await embed(["five"]))[0]);
});

test("a text that is too long for a small model gets the vector of its beginning", async () => {
  double.maxTokens = 512;
  const [vector] = await embed(["word ".repeat(600)]);
  expect(lengthOf(vector)).toBeCloseTo(1, 5);
  expect(sent().map(({ input }) => input[0]?.length)).toEqual([2_999, 1_000]);
});

test("settings that the provider refuses for every text are told, and no text is left without a vector for them", async () => {
  const fault = await faultOf(["oat milk", "cats"], { model: "nomic-embed-text", dimensions: 4 });
  expect(fault).toMatchObject({ code: "UNAVAILABLE", needsOperator: true });
  expect(fault.hint).toContain("unset EMBEDDING_DIMENSIONS");
  expect(sent()).toHaveLength(2);
  const alone = await faultOf(["oat milk"], { model: "nomic-embed-text", dimensions: 4 });
  expect(alone.needsOperator).toBe(true);
});

test("a server that overlooks the dimensions is found out, with what to set", async () => {
  double.heedsDimensions = false;
  const fault = await faultOf(["oat milk"], { model: "nomic-embed-text", dimensions: 4 });
  expect(fault.message).toBe("The embedding provider sends vectors of 8 numbers, not of 4.");
  expect(fault.hint).toContain("Set EMBEDDING_DIMENSIONS to 8, or unset it");
});

test.each([
  [
    401,
    "invalid_api_key",
    { needsOperator: true, hint: expect.stringContaining("OPENAI_API_KEY") },
  ],
  [
    404,
    "model_not_found",
    { needsOperator: true, hint: expect.stringContaining("EMBEDDING_MODEL") },
  ],
  [
    400,
    "model_not_found",
    { needsOperator: true, hint: expect.stringContaining("EMBEDDING_MODEL") },
  ],
  [429, "insufficient_quota", { needsOperator: true, hint: expect.stringContaining("credit") }],
  [429, "rate_limit_exceeded", { needsOperator: false, retryAfterMs: undefined }],
  [500, undefined, { needsOperator: false }],
  [503, undefined, { needsOperator: false }],
])("status %i %s is told in our own words, after one request", async (status, code, expected) => {
  double.next({ status, ...(code && { code }) });
  expect(await faultOf(["oat milk"])).toMatchObject({ code: "UNAVAILABLE", ...expected });
  expect(sent()).toHaveLength(1);
});

test("a wrong key is told as one", async () => {
  expect((await faultOf(["oat milk"], { apiKey: "sk-wrong" })).message).toContain(
    "refuses the key",
  );
});

test("a provider that wants to be left alone says for how long, and answers afterwards", async () => {
  const embedder = await open();
  double.next({ status: 429, headers: { "retry-after": "20" } });
  await expect(embedder.embed(["oat milk"], "query")).rejects.toMatchObject({
    retryAfterMs: 20_000,
  });
  expect(await embedder.embed(["oat milk"], "query")).not.toContain(null);
});

type Entries = (entries: readonly Entry[]) => readonly unknown[];
const WRONG: readonly [what: string, entries: Entries][] = [
  ["zeros", (entries) => entries.map((entry) => ({ ...entry, embedding: Array(1_536).fill(0) }))],
  ["null in a vector", ([entry]) => [{ ...entry, embedding: Array(1_536).fill(null) }]],
  ["a vector in base64", ([entry]) => [{ ...entry, embedding: "AAAAAA==" }]],
  ["an empty vector", ([entry]) => [{ ...entry, embedding: [] }]],
  ["no index", ([entry]) => [{ embedding: entry?.embedding }]],
  ["a wrong index", ([entry]) => [{ ...entry, index: 1 }]],
  ["too few vectors", () => []],
  ["too many vectors", ([entry]) => [entry, entry]],
  ["nothing", () => [null]],
];
test.each(WRONG)("an answer with %s becomes no vector", async (_what, entries) => {
  double.next({ entries });
  expect((await faultOf(["oat milk"])).message).toContain("no usable vectors");
});

test("two vectors for one text and none for the other become no vectors", async () => {
  double.next({ entries: ([first]) => [first, first] });
  expect((await faultOf(["one", "two"])).message).toContain("no usable vectors");
});

test("a vector that is shorter than it has to be becomes no vector", async () => {
  double.next({ entries: ([entry]) => [{ ...entry, embedding: [1, 2, 3] }] });
  expect((await faultOf(["oat milk"])).message).toContain("of 3 numbers, not of 1536");
});

test.each(["<html>quokka</html>", "{}", "null", '{"data":"quokka"}'])(
  "an answer %s that holds no vectors is told as the provider's fault",
  async (body) => {
    double.next({ body });
    await faultOf(["oat milk"]);
  },
);

test.each(["before", "within"] as const)(
  "a provider that stops %s its answer is not waited for",
  async (hangs) => {
    double.next({ hangs });
    expect((await faultOf(["oat milk"], { timeoutMs: 50 })).needsOperator).toBe(false);
  },
);

test("a provider that is not there is told", async () => {
  const fault = await faultOf(["oat milk"], { baseUrl: "http://127.0.0.1:9/v1" });
  expect(fault.message).toContain("cannot be reached");
});

test("who gives up waiting is told their own reason", async () => {
  const embedder = await open();
  double.next({ hangs: "before" });
  const waiting = new AbortController();
  const vectors = embedder.embed(["oat milk"], "query", waiting.signal);
  waiting.abort(new Error("the budget is over"));
  await expect(vectors).rejects.toThrow("the budget is over");
  await expect(embedder.embed(["cats"], "query", waiting.signal)).rejects.toThrow(
    "the budget is over",
  );
});

test("closing refuses what waits and what comes later", async () => {
  const embedder = await open();
  double.next({ hangs: "before" });
  const vectors = embedder.embed(["oat milk"], "background");
  const refused = expect(vectors).rejects.toThrow("closed");
  await embedder.close();
  await refused;
  await expect(embedder.embed(["oat milk"], "query")).rejects.toThrow("closed");
  await embedder.close();
});
