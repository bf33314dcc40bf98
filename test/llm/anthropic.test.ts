import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { anthropicExtractor } from "../../src/llm/anthropic.ts";
import { type ExtractionFault, ExtractorFault } from "../../src/llm/extractor.ts";
import { AnthropicDouble, type Behaviour } from "../support/anthropic-double.ts";

const PROMPT = {
  instructions: "Return facts.",
  data: "<turn></turn>",
  schema: { type: "object", additionalProperties: false, properties: {} },
};

let double: AnthropicDouble;
beforeAll(async () => {
  double = await AnthropicDouble.start();
});
afterAll(() => double.stop());
afterEach(() => {
  double.reset();
  vi.unstubAllEnvs();
});

const open = async (options: { apiKey?: string; timeoutMs?: number } = {}) => {
  const extractor = await anthropicExtractor({
    apiKey: double.key,
    baseUrl: double.url,
    model: "claude-haiku-5-5",
    ...options,
  });
  if (!extractor) throw new Error("no extractor");
  return extractor;
};
const ask = async (behaviour: Behaviour, options?: { apiKey?: string; timeoutMs?: number }) => {
  double.next(behaviour);
  return (await open(options)).extract(PROMPT, new AbortController().signal);
};
const faultOf = async (behaviour: Behaviour, options?: { apiKey?: string; timeoutMs?: number }) => {
  const error = await ask(behaviour, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ExtractorFault);
  return error as ExtractorFault;
};

test("without a key there is no extractor, whatever other credentials the machine has", async () => {
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "somebody-else");
  vi.stubEnv("ANTHROPIC_API_KEY", "somebody-else");
  const none = { apiKey: undefined, baseUrl: double.url, model: "claude-haiku-5-5" };
  expect(await anthropicExtractor(none)).toBeUndefined();
});

test("an answer comes with its stop reason and tokens", async () => {
  const behaviour = { text: '{"facts":[]}', inputTokens: 612, outputTokens: 48 };
  expect(await ask(behaviour)).toEqual({
    text: '{"facts":[]}',
    stopReason: "end_turn",
    inputTokens: 612,
    outputTokens: 48,
  });
  expect(double.received[0]?.body).toMatchObject({
    model: "claude-haiku-5-5",
    system: "Return facts.",
    messages: [{ role: "user", content: "<turn></turn>" }],
    thinking: { type: "disabled" },
    max_tokens: 2048,
    output_config: { format: { type: "json_schema", schema: PROMPT.schema } },
  });
});

test.each([
  [
    { text: null, stopReason: "refusal" },
    { text: "", stopReason: "refusal" },
  ],
  [
    { text: '{"facts":[{', stopReason: "max_tokens" },
    { text: '{"facts":[{', stopReason: "max_tokens" },
  ],
])("an answer that was refused or cut short says so: %j", async (behaviour, answer) => {
  expect(await ask(behaviour)).toMatchObject(answer);
});

test.each<[Behaviour, ExtractionFault, number | undefined]>([
  [{ status: 429, headers: { "retry-after": "17" } }, "rate-limited", 17_000],
  [
    { status: 429, headers: { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" } },
    "rate-limited",
    undefined,
  ],
  [{ status: 529 }, "overloaded", undefined],
  [{ status: 500 }, "unavailable", undefined],
  [{ status: 502, body: "<html>Bad Gateway</html>" }, "unavailable", undefined],
  [{ status: 503, headers: { "retry-after": "5" } }, "unavailable", 5_000],
  [{ status: 504 }, "timeout", undefined],
  [{ drops: true }, "unavailable", undefined],
  [
    { status: 400, body: '{"error":{"message":"Your credit balance is too low"}}' },
    "misconfigured",
    undefined,
  ],
  [{ status: 401 }, "misconfigured", undefined],
  [{ status: 403 }, "misconfigured", undefined],
  [{ status: 404 }, "misconfigured", undefined],
])("%j is one fault of a closed set, after one request", async (behaviour, code, retryAfterMs) => {
  const fault = await faultOf(behaviour);
  expect(fault).toMatchObject({ code, retryAfterMs });
  expect(fault.isOfProvider).toBe(true);
  expect(double.received).toHaveLength(1);
});

test("a provider that does not answer in time is a timeout", async () => {
  expect((await faultOf({ hangs: true }, { timeoutMs: 50 })).code).toBe("timeout");
  expect(double.received).toHaveLength(1);
});

test("a provider that cannot be reached is unavailable", async () => {
  const gone = await AnthropicDouble.start();
  const { url: baseUrl, key: apiKey } = gone;
  await gone.stop();
  const extractor = await anthropicExtractor({ apiKey, baseUrl, model: "m" });
  const asked = extractor?.extract(PROMPT, new AbortController().signal);
  await expect(asked).rejects.toMatchObject({ code: "unavailable" });
});

test("a wrong key is the operator's to mend", async () => {
  expect((await faultOf({ facts: [] }, { apiKey: "sk-wrong" })).code).toBe("misconfigured");
});

test("a server that is stopping ends the call", async () => {
  double.next({ hangs: true });
  const extractor = await open();
  const stop = new AbortController();
  const asked = extractor.extract(PROMPT, stop.signal);
  await expect.poll(() => double.received.length).toBe(1);
  stop.abort();
  await expect(asked).rejects.toMatchObject({ name: "AbortError" });
});

test("nothing of the environment or of this machine goes out", async () => {
  const leak = "somebody-else";
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", leak);
  vi.stubEnv("ANTHROPIC_API_KEY", leak);
  vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
  vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", `x-team: ${leak}\nauthorization: Bearer ${leak}`);
  vi.stubEnv("ANTHROPIC_LOG", "debug");
  const spoken = vi.spyOn(console, "debug");
  await ask({ facts: [] });
  const headers = double.received[0]?.headers ?? {};
  expect(JSON.stringify(headers)).not.toContain(leak);
  expect(headers.authorization).toBe(`Bearer ${double.key}`);
  expect(Object.keys(headers).filter((name) => name.startsWith("x-"))).toEqual([]);
  expect(spoken).not.toHaveBeenCalled();
});

test.each([400, 413, 422])(
  "a request that is answered %i is one turn's fault: others go on",
  async (status) => {
    const fault = await faultOf({ status });
    expect([fault.code, fault.isOfProvider]).toEqual(["rejected", false]);
  },
);

test("a fault tells nothing of the turn, the answer or the key", async () => {
  const fault = await faultOf({ status: 400 });
  expect(fault.message).toBe("extraction failed: rejected");
  expect(fault.cause).toBeUndefined();
});
