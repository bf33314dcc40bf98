import { expect, test } from "vitest";
import { FactKey } from "../../src/facts/fact.ts";
import { factKey } from "../../src/import/fact-key.ts";
import { readServerMemory } from "../../src/import/server-memory.ts";
import { collect, inPieces } from "./exports.ts";

async function read(lines: readonly (object | string)[]) {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  const { read: items } = await collect(readServerMemory(inPieces(text.join("\n"), 11)));
  return {
    facts: items.flatMap((item) => ("fact" in item ? [item.fact] : [])),
    skipped: items.flatMap((item) => ("skipped" in item ? [`${item.line} ${item.skipped}`] : [])),
  };
}

const entity = (name: string, observations: readonly unknown[], entityType = "person") => ({
  type: "entity",
  name,
  entityType,
  observations,
});

test("each observation and each relation becomes a fact under a key of its own", async () => {
  const { facts, skipped } = await read([
    entity("Ana_Lima", ["Likes tea", "Speaks French, and some Dutch."]),
    { type: "relation", from: "Ana_Lima", to: "Acme", relationType: "works_at" },
    "",
  ]);
  expect(skipped).toEqual([]);
  expect(facts).toMatchObject([
    { key: "ana_lima.likes_tea", value: "Likes tea", tags: ["person"] },
    { value: "Speaks French, and some Dutch.", tags: ["person"] },
    { key: "ana_lima.works_at.acme", value: "Ana_Lima works at Acme", tags: [] },
  ]);
  expect(facts[1]?.key).toMatch(/^ana_lima\.speaks_french_and_some_dutch_[0-9a-f]{8}$/);
});

test("what a file says twice counts once, in whatever order it comes", async () => {
  const lines = [entity("A", ["x", "y"]), entity("A", ["y", "z", "z"])];
  const { facts, skipped } = await read(lines);
  expect(facts.map(({ value }) => value)).toEqual(["x", "y", "z"]);
  expect(skipped).toEqual(["2 twice in the file", "2 twice in the file"]);
  const again = await read(lines.reverse());
  const sources = (of: typeof facts) => of.map(({ sourceMessageId }) => sourceMessageId).sort();
  expect(sources(again.facts)).toEqual(sources(facts));
});

test("a file in which no line can be read is refused as another kind of file", async () => {
  for (const lines of [["{", '  "messages": []', "}"], Array.from({ length: 1000 }, () => "{")]) {
    const { read: items, fault } = await collect(readServerMemory(inPieces(lines.join("\n"), 11)));
    expect(items).toEqual([]);
    expect(String(fault)).toMatch(/no file of .*server-memory/);
  }
  expect(await read(["", " "])).toEqual({ facts: [], skipped: [] });
  expect(await read(["{", { type: "entity", name: "A" }])).toEqual({
    facts: [],
    skipped: ["1 broken line"],
  });
});

test("broken lines are told by their number, and the others are read", async () => {
  const { facts, skipped } = await read([
    "{not json",
    entity("A", ["kept", "", 7, "x".repeat(5000)]),
    "null",
    { type: "entity" },
    { type: "other", name: "A" },
    `{"type":"entity","name":"B","observations":["${"x".repeat(5 * 1024 * 1024)}"]}`,
    String.raw`{"type":"entity","name":"C\u0000","entityType":"veille","observations":["a\ud800"]}`,
  ]);
  expect(facts.map(({ value, tags }) => [value, tags])).toEqual([
    ["kept", ["person"]],
    ["a\uFFFD", []],
  ]);
  expect(skipped).toEqual([
    "1 broken line",
    "2 no text",
    "2 no text",
    "2 too long for a fact (4 KiB)",
    "3 broken line",
    "4 broken line",
    "5 broken line",
    "6 line too long",
  ]);
});

test("two names get two keys, and every key is one", () => {
  const names = ["C", "C++", "C#", "Zoë", "Zoe", "東京", "京都", "watch", "_", "a.b", "a-b"];
  const long = ["x".repeat(200), `${"x".repeat(199)}y`, "one two ".repeat(30)];
  const keys = [...names, ...long].map((name) => factKey([name, 30], [name, 49]));
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(FactKey.safeParse(key).success, key).toBe(true);
  expect(factKey(["Ana Lima", 30], ["Likes tea", 49])).toBe("ana_lima.likes_tea");
});
