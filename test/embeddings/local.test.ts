import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { LocalEmbedder } from "../../src/embeddings/local.ts";
import { LocalEngine } from "../../src/embeddings/local-engine.ts";

const embedder = new LocalEmbedder();
afterAll(() => embedder.close());

const mortal = () =>
  new LocalEmbedder(new LocalEngine(new URL("./mortal-worker.ts", import.meta.url)));
const vectorOf = async (text: string) => {
  const [vector] = await embedder.embed([text], "query");
  if (!vector) throw new Error("no vector");
  return vector;
};
const cosine = async (one: string, other: string) => {
  const [a, b] = [await vectorOf(one), await vectorOf(other)];
  return a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
};

test("the weights are those of all-MiniLM-L6-v2: its card's sentence has its card's vector", async () => {
  const vector = await vectorOf("This is an example sentence");
  for (const [i, x] of [0.06766, 0.06356, 0.04873, 0.07941].entries()) {
    expect(vector[i]).toBeCloseTo(x, 3);
  }
  expect(vector).toHaveLength(384);
  expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
});

test("its name holds what its vectors depend on, and its thresholds come with it", async () => {
  expect(await embedder.model()).toEqual({
    fingerprint: "local/all-MiniLM-L6-v2/fp16/384/mean/v1",
    dimensions: 384,
    floor: 0.3,
    mergeThreshold: 0.7,
  });
});

test("a paraphrase lies near, another subject below the floor, and a text has one vector always", async () => {
  const { floor } = await embedder.model();
  expect(await cosine("I am a vegetarian", "I do not eat meat")).toBeGreaterThan(floor);
  expect(await cosine("I am a vegetarian", "My car is in the garage")).toBeLessThan(floor);
  expect(await vectorOf("My car is in the garage")).toEqual(
    await vectorOf("My car is in the garage"),
  );
});

test("each text gets its own vector, and one of no word or of a script it cannot read gets none", async () => {
  const texts = [
    "",
    "oat milk",
    " \n\u0000",
    "🙂",
    "three cats",
    "我是素食者",
    "Я не ем мяса",
    "?!",
  ];
  const vectors = await embedder.embed(texts, "background");
  const [milk, cats] = [await vectorOf("oat milk"), await vectorOf("three cats")];
  expect(vectors).toEqual([null, milk, null, null, cats, null, null, null]);
  expect(await embedder.embed([], "query")).toEqual([]);
});

test("words among other scripts, pictures and halves of characters are read", async () => {
  const oat = await vectorOf("oat milk");
  expect(await vectorOf("oat \ud83d milk")).toEqual(oat);
  expect(await vectorOf("  oat\u0000 milk\n")).toEqual(oat);
  for (const text of ["oat milk 🥛", "shop.name: 東京 oat milk", "4711", "café crème"]) {
    expect(Math.hypot(...(await vectorOf(text)))).toBeCloseTo(1, 5);
  }
});

test("of a long text the beginning counts, also of one that is far too long", async () => {
  const head = "oat milk and bread, ".repeat(80);
  const vector = await vectorOf(`${head} wombats`);
  expect(await vectorOf(`${head} submarines`)).toEqual(vector);
  expect(await vectorOf(head.repeat(5_000))).toEqual(vector);
});

test("a query goes before the background work that waits", async () => {
  const order: string[] = [];
  const embed = async (text: string, priority: "query" | "background") => {
    await embedder.embed([text], priority);
    order.push(text);
  };
  await Promise.all([
    ...["one", "two", "three"].map((text) => embed(text, "background")),
    embed("which milk?", "query"),
  ]);
  expect(order).toEqual(["one", "which milk?", "two", "three"]);
});

test("who gives up waiting is told their own reason, and the others get their vectors", async () => {
  const waiting = new AbortController();
  const first = embedder.embed(["one"], "background");
  const given = embedder.embed(["two", "three"], "background", waiting.signal);
  const last = embedder.embed(["four"], "background");
  waiting.abort(new Error("the budget is over"));
  await expect(given).rejects.toThrow("the budget is over");
  expect([...(await first), ...(await last)]).not.toContain(null);
  await expect(embedder.embed(["five"], "query", waiting.signal)).rejects.toThrow("budget");
  await expect(embedder.model(waiting.signal)).rejects.toThrow("budget");
});

test("a text that kills the model's thread each time has no vector, and keeps nobody from theirs", async () => {
  const own = mortal();
  const [killer, next] = await Promise.all([
    own.embed(["end here", "oat milk"], "query"),
    own.embed(["oat milk"], "background"),
  ]);
  const milk = await vectorOf("oat milk");
  expect([killer, next]).toEqual([[null, milk], [milk]]);
  await own.close();
});

test("a text that the model's thread dies over once gets its vector from another thread", async () => {
  const own = mortal();
  const mark = join(await mkdtemp(join(tmpdir(), "souvenir-mark-")), "seen");
  const [vector] = await own.embed([`end once ${mark}`], "query");
  expect(existsSync(mark)).toBe(true);
  expect(vector).toHaveLength(384);
  await own.close();
  await rm(dirname(mark), { recursive: true });
});

test("closing ends the thread in the middle of a text, and refuses what waits and what comes later", async () => {
  const own = mortal();
  await own.model();
  const waits = [own.embed(["stay here"], "query"), own.embed(["oat milk"], "background")];
  const refused = Promise.all(waits.map((wait) => expect(wait).rejects.toThrow("closed")));
  await own.close();
  await refused;
  await expect(own.embed(["oat milk"], "query")).rejects.toThrow("closed");
  await expect(own.model()).rejects.toThrow("closed");
  await own.close();
});

test("a model that is being loaded is not waited for by a close", async () => {
  const own = new LocalEmbedder();
  const refused = expect(own.model()).rejects.toThrow("closed");
  await own.close();
  await refused;
});

test("a model that cannot be loaded is told to everybody who waits, with what to do", async () => {
  const own = new LocalEmbedder(new LocalEngine(new URL("./no-worker.ts", import.meta.url)));
  const waits = [
    own.model(),
    own.embed(["one", "two"], "query"),
    own.embed(["three"], "background"),
  ];
  for (const outcome of await Promise.allSettled(waits)) {
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: { code: "UNAVAILABLE", needsOperator: true, hint: expect.stringContaining("npm ci") },
    });
  }
  await own.close();
});

test("a process with a loaded model ends when it has nothing else to do, and not before its answer", async () => {
  const script = `import { LocalEmbedder } from ${JSON.stringify(new URL("../../src/embeddings/local.ts", import.meta.url).href)};
    console.log((await new LocalEmbedder().embed(["oat milk"], "query"))[0].length);`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.trim()).toBe("384");
});
