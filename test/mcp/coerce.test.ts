import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/mcp/tool.ts";
import { call, errorOf, keep, serveMcp } from "./mcp-under-test.ts";

test("null for what may be missing is as good as nothing, and stays where it is a value", async () => {
  const open = defineTool({
    ...keep,
    name: "open",
    input: z.strictObject({
      value: z.unknown(),
      spare: z.unknown().optional(),
      either: z.string().nullable().optional(),
      feedback: z.strictObject({ thumb: z.string().optional(), loud: z.boolean().default(true) }),
      list: z.array(z.string()).optional(),
    }),
    output: z.looseObject({}),
    handle: async (input) => input,
  });
  const server = await serveMcp({ tools: [keep, open] });
  const nothing = { limit: null, loud: null, tags: null };
  const kept = await call(server, "keep", { userId: "u", value: { limit: null }, ...nothing });
  expect(kept.json.result.structuredContent).toEqual({
    userId: "u",
    value: { limit: null },
    limit: 50,
  });
  const sent = { value: null, spare: null, either: null, feedback: { thumb: null, loud: null } };
  const { json } = await call(server, "open", { ...sent, list: null });
  expect(json.result.structuredContent).toEqual({ ...sent, feedback: { loud: true } });
  for (const [argument, start] of [
    [{ ...sent, list: [null] }, "list[0]: "],
    [{ ...sent, feedback: null }, "feedback: "],
  ] as const) {
    const { code, message } = errorOf(await call(server, "open", argument));
    expect([code, message.slice(0, start.length)]).toEqual(["INVALID_INPUT", start]);
  }
});

test("a boolean is read as JSON and Python write it, and in no other way", async () => {
  const server = await serveMcp();
  const loud = async (text: string) =>
    (await call(server, "keep", { userId: "u", value: text, loud: text })).json.result;
  for (const [text, read] of [
    ["True", true],
    ["False", false],
    ["true", true],
    ["false", false],
  ] as const) {
    expect((await loud(text)).structuredContent).toMatchObject({ value: text, loud: read });
  }
  for (const text of ["TRUE", "yes", "1", "", " true", "null"]) {
    expect((await loud(text)).isError, text).toBe(true);
  }
});
