import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/mcp/tool.ts";
import {
  call,
  callText,
  errorOf,
  keep,
  member,
  post,
  postModern,
  serveMcp,
} from "./mcp-under-test.ts";

test("a value that looks like JSON stays the text it is", async () => {
  const server = await serveMcp();
  for (const value of ["10.5", "true", "null", '{"a":1}', "[1]", ""]) {
    const { json } = await call(server, "keep", { userId: "u", value });
    expect(json.result.structuredContent.value).toBe(value);
  }
});

test("declared arrays, objects, numbers and booleans are read from their JSON text", async () => {
  const server = await serveMcp();
  const kept = await call(server, "keep", {
    userId: "u",
    value: "[1]",
    limit: "20",
    loud: "true",
    tags: ' ["voice"]',
  });
  expect(kept.json.result.structuredContent).toEqual({
    userId: "u",
    value: "[1]",
    limit: 20,
    loud: true,
    tags: ["voice"],
  });
  const all = await call(server, "keep_all", {
    userId: "u",
    entries: JSON.stringify([{ key: "q", value: "[1]" }, JSON.stringify({ key: "r", value: "2" })]),
  });
  expect(all.json.result.structuredContent.entries).toEqual([
    { key: "q", value: "[1]" },
    { key: "r", value: "2" },
  ]);
});

test("text that only resembles the declared type is refused by the parameter's name", async () => {
  const server = await serveMcp();
  const cases = [
    [{ limit: "20x" }, "limit: "],
    [{ limit: "-0" }, "limit: "],
    [{ limit: "9007199254740993" }, "limit: "],
    [{ loud: "yes" }, "loud: "],
    [{ tags: "voice" }, "tags: "],
    [{ tags: '["a"' }, "tags: this text is not valid JSON"],
    [{ tags: '["a",1e400]' }, "tags[1]: the number 1e400"],
    [{ tags: String.raw`["a\u0000"]` }, "tags[0]: U+0000"],
  ] as const;
  for (const [argument, start] of cases) {
    const error = errorOf(await call(server, "keep", { userId: "u", value: 1, ...argument }));
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message.slice(0, start.length)).toBe(start);
  }
});

test("a whole number is taken as an id, an unsafe one is refused", async () => {
  const server = await serveMcp();
  const { json } = await call(server, "keep", { userId: 5_000_000_001, value: 1 });
  expect(json.result.structuredContent.userId).toBe("5000000001");
  const unsafe = await callText(server, "keep", '{"userId":9007199254740993,"value":1}');
  expect(errorOf(unsafe)).toEqual({
    code: "INVALID_INPUT",
    message: "userId: the number 9007199254740993 cannot be held exactly; send it as a string.",
  });
  expect(errorOf(await call(server, "keep", { userId: 1.5, value: 1 })).code).toBe("INVALID_INPUT");
  const entries = [{ key: 5, value: 1 }];
  const { message } = errorOf(await call(server, "keep_all", { userId: 5, entries }));
  expect(message).toMatch(/^entries\[0\]\.key: .*expected string/);
});

test("a number sent as text must be exact as well", async () => {
  const measure = defineTool({
    ...keep,
    name: "measure",
    input: z.strictObject({ score: z.number() }),
    output: z.strictObject({ score: z.number() }),
    handle: async (input) => input,
  });
  const server = await serveMcp({ tools: [measure] });
  const { json } = await call(server, "measure", { score: "0.25" });
  expect(json.result.structuredContent).toEqual({ score: 0.25 });
  for (const score of ["0.12345678901234567890", "9007199254740993", "-0", "0x10", ""]) {
    expect(errorOf(await call(server, "measure", { score })).code).toBe("INVALID_INPUT");
  }
});

test("what JavaScript would change in a value is refused with its path", async () => {
  const server = await serveMcp();
  const cases = [
    ['{"order":2512292042121000001}', "value.order: the number 2512292042121000001"],
    ["[[0],[1e400]]", "value[1][0]: the number 1e400"],
    ['{"a":1,"a":2}', "value.a: this key appears twice"],
    ['{"b":1,"10":2}', "value.10: the order of a number-like key"],
    [String.raw`"a\u0000b"`, "value: U+0000"],
    [String.raw`{"x\ud83d":1}`, "value.x\ufffd: U+0000 or half of a surrogate pair"],
    ["[".repeat(500) + "]".repeat(500), "value[0][0]"],
    ["[".repeat(100_000) + "]".repeat(100_000), "value[0][0]"],
  ] as const;
  for (const [value, start] of cases) {
    const answer = await callText(server, "keep", `{"userId":"u","value":${value}}`);
    expect(answer.json.id).toBe(7);
    expect(answer.json.result.structuredContent).toBeUndefined();
    const error = errorOf(answer);
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message.startsWith(start), error.message).toBe(true);
    expect(error.message.length).toBeLessThan(300);
  }
});

test("200 levels of a value pass through the deepest tool and come back", async () => {
  const server = await serveMcp();
  const value = "[".repeat(200) + "]".repeat(200);
  const entries = `[{"key":"k","value":${value}}]`;
  const { json } = await callText(server, "keep_all", `{"userId":"u","entries":${entries}}`);
  expect(JSON.stringify(json.result.structuredContent.entries[0].value)).toBe(value);
});

test("a __proto__ key in a value comes back, pollutes nothing, and is no argument", async () => {
  const server = await serveMcp();
  const value = '{"b":2,"__proto__":{"a":1},"a":"\u2028","nested":[{"__proto__":null}]}';
  const { text, json } = await callText(server, "keep", `{"userId":"u","value":${value}}`);
  expect(text).toContain(`"structuredContent":{"userId":"u","value":${value},"limit":50}`);
  expect(json.result.content[0].text).toBe(`{"userId":"u","value":${value},"limit":50}`);
  expect(({} as { a?: unknown }).a).toBeUndefined();

  const top = await callText(server, "keep", '{"userId":"u","value":1,"__proto__":{"limit":3}}');
  expect(errorOf(top).message).toBe("__proto__: unknown argument.");
  const entry = '{"userId":"u","entries":[{"key":"k","value":1,"__proto__":2}]}';
  expect(errorOf(await callText(server, "keep_all", entry)).message).toBe(
    "entries[0]: unknown __proto__.",
  );
});

test("null is a value and differs from none", async () => {
  const server = await serveMcp();
  const { json } = await call(server, "keep", { userId: "u", value: null });
  expect(json.result.structuredContent.value).toBeNull();
  expect(errorOf(await call(server, "keep", { userId: "u" }))).toEqual({
    code: "INVALID_INPUT",
    message: "value: missing; it is required.",
    hint: "value: Send any JSON value.",
  });
});

test("a hint is sentences, and repeats of a schema only what refuses something", async () => {
  const noted = defineTool({
    ...keep,
    name: "noted",
    input: z.strictObject({
      limit: z.int().min(1).default(50).describe("More than 500 counts as 500"),
      feedback: z.strictObject({
        thumb: z.enum(["up", "down"]).default("up").describe("What they thought"),
        description: z.string(),
      }),
      value: z
        .unknown()
        .refine((value) => value !== 1, "not 1")
        .describe("Any value."),
    }),
    handle: async () => ({ userId: "u", value: 1, limit: 1 }),
  });
  const server = await serveMcp({ tools: [noted] });
  const sent = { limit: 0, feedback: { thumb: "sideways", description: "d" }, value: 1 };
  expect(errorOf(await call(server, "noted", sent)).hint).toBe(
    'limit: More than 500 counts as 500. Send {"type":"integer","minimum":1}. ' +
      'feedback: Send {"type":"object","properties":{"thumb":{"type":"string","enum":["up","down"]},' +
      '"description":{"type":"string"}},"required":["description"]}. ' +
      "value: Any value. Send any JSON value.",
  );
});

test("words of a chat reach the archive whatever they hold, and no other text does", async () => {
  const archive = defineTool({
    ...keep,
    name: "archive",
    archived: ["words"],
    input: z.strictObject({ words: z.string(), place: z.string(), list: z.array(z.string()) }),
    output: z.looseObject({}),
    handle: async ({ words, place, list }) => ({ words: words.toWellFormed(), place, list }),
  });
  const server = await serveMcp({ tools: [archive] });
  const send = (words: string, place: string, list: string) =>
    callText(server, "archive", `{"words":${words},"place":${place},"list":[${list}]}`);
  const bad = String.raw`"a\u0000b\ud83d"`;
  const { json } = await send(bad, '"p"', '"q"');
  expect(json.result.structuredContent).toEqual({ words: "a\0b\uFFFD", place: "p", list: ["q"] });
  expect(errorOf(await send(bad, bad, '"q"')).message).toMatch(/^place: U\+0000[^:]*$/);
  expect(errorOf(await send(bad, '"p"', bad)).message).toMatch(/^list\[0\]: U\+0000/);
  const nested = String.raw`{"a":"\u0000"}`;
  expect(errorOf(await send(nested, '"p"', '"q"')).message).toMatch(/^words\.a: U\+0000/);
  expect(errorOf(await send("1e400", '"p"', '"q"')).message).toMatch(/^words: the number/);
});

test("a refusal says what was wrong and what to send instead", async () => {
  const server = await serveMcp();
  expect(errorOf(await call(server, "keep", { value: 1, limit: 0 }))).toEqual({
    code: "INVALID_INPUT",
    message: "userId: missing; it is required. limit: Too small: expected number to be >=1.",
    hint: 'userId: Whose value it is. Send {"type":"string"}. limit: Send {"type":"integer","minimum":1}.',
  });
  expect(errorOf(await call(server, "keep", { userId: "u", value: 1, usrId: 1, x: 2 }))).toEqual({
    code: "INVALID_INPUT",
    message: "usrId: unknown argument. x: unknown argument.",
    hint: "Known arguments: userId, value, limit, loud, tags.",
  });
  const long = await call(server, "keep_all", {
    userId: "u",
    entries: [{ key: "k".repeat(100_000), value: 1 }],
  });
  expect(errorOf(long).message).toBe(
    "entries[0].key: Too big: expected string to have <=5 characters.",
  );
  expect(long.text.length).toBeLessThan(1_000);
});

test("no arguments at all are as good as an empty object", async () => {
  const server = await serveMcp();
  for (const sent of [undefined, null, {}]) {
    const { json } = await call(server, "whoami", sent, { authorization: "Bearer key-9" });
    expect(json.result.structuredContent).toEqual({ keyId: "key-9" });
  }
});

test("a pinned parameter is not in the schema, is supplied, and is refused when sent", async () => {
  const server = await serveMcp({
    authenticate: async () => ({ ...member, pins: { userId: "u-pinned" } }),
  });
  const { json } = await post(server, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  const [schema] = json.result.tools.map((tool: { inputSchema: unknown }) => tool.inputSchema);
  expect(Object.keys(schema.properties)).toEqual(["value", "limit", "loud", "tags"]);
  expect(schema.required).toEqual(["value"]);

  const kept = await call(server, "keep", { value: 1 });
  expect(kept.json.result.structuredContent.userId).toBe("u-pinned");
  const sent = errorOf(await call(server, "keep", { value: 1, userId: "u-pinned" }));
  expect(sent.code).toBe("INVALID_INPUT");
  expect(sent.message).toMatch(/^userId: unknown argument; this key is bound/);
  const modern = await postModern(server, "tools/call", { name: "keep", arguments: { value: 2 } });
  expect(modern.json.result.structuredContent).toMatchObject({ userId: "u-pinned", value: 2 });
});
