import fc from "fast-check";
import { expect, test } from "vitest";
import { BodyError, parseBody } from "../../src/mcp/json.ts";
import { callText, post, serveMcp } from "./mcp-under-test.ts";

test("a body without surprises is what JSON.parse makes of it", () => {
  fc.assert(
    fc.property(fc.object({ values: [fc.string(), fc.boolean(), fc.integer()] }), (value) => {
      const text = JSON.stringify(value);
      const { batch, messages } = parseBody(Buffer.from(text));
      expect({ batch, messages }).toEqual({
        batch: false,
        messages: [{ message: JSON.parse(text), faults: [] }],
      });
    }),
  );
});

test("faults in the arguments of a tool call are handed on, message by message", () => {
  const call = (value: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"v":${value}}}}`;
  expect(parseBody(Buffer.from(call("[1e400]"))).messages[0]?.faults).toEqual([
    { kind: "number", path: ["v", 0], literal: "1e400" },
  ]);
  const batch = parseBody(Buffer.from(`[${call("1")},${call("-0")}]`));
  expect(batch.messages.map(({ faults }) => faults)).toEqual([
    [],
    [{ kind: "number", path: ["v"], literal: "-0" }],
  ]);
});

/** More than a report has room for, none of which matters where it stands. */
const NOISE = `{"a":0,${Array.from({ length: 25 }, (_, n) => `"${n}":0`).join()}}`;
const noisy = (value: string, id = 1) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"_meta":${NOISE},"name":"keep","arguments":{"userId":"u","value":${value}}}}`;
const kinds = (text: string) =>
  parseBody(Buffer.from(text)).messages.map(({ faults }) => faults.map(({ kind }) => kind));

test("no number of keys whose order means nothing hides what comes after them", () => {
  expect(kinds(noisy('[9007199254740993,-0,1e400,{"a":1,"a":2}]'))).toEqual([
    ["number", "number", "number", "duplicate"],
  ]);
  expect(kinds(noisy(`${"[".repeat(100_000)}${"]".repeat(100_000)}`))).toEqual([["depth"]]);
  expect(kinds(noisy(String.raw`{"a\u0000b":1}`))).toEqual([["text"]]);
  expect(kinds(noisy("1"))).toEqual([[]]);
  expect(() => kinds(noisy("1", 9007199254740993n as never))).toThrow(/^id: the number/);
});

test("a message of a batch is looked at whole, whatever is wrong with those before it", () => {
  const full = noisy(`[${Array(30).fill("-0").join()}]`);
  const deep = noisy("[".repeat(300) + "]".repeat(300), 2);
  const [first, second, third] = kinds(`[${full},${deep},${noisy("[9007199254740993,-0]", 3)}]`);
  expect(first).toHaveLength(20);
  expect([second, third]).toEqual([["depth"], ["number", "number"]]);
});

test("a fault beside the arguments refuses the message, however many are in them", () => {
  const text = noisy(`[${Array(30).fill("-0").join()}]`).replace(
    /}$/,
    ',"params":{"name":"keep"}}',
  );
  expect(() => kinds(text)).toThrow(/^params: this key appears twice/);
});

test("a value that cannot be kept is refused, however it was reached, and its neighbours are kept", async () => {
  const server = await serveMcp();
  const good = noisy('{"1":true,"b":0.5}', 1);
  for (const bad of [
    "-0",
    "1e400",
    '{"a":1,"a":2}',
    '{"b":1,"1":2}',
    "[".repeat(9_999) + "]".repeat(9_999),
  ]) {
    const { json } = await post(server, `[${noisy(bad, 2)},${good},${noisy(bad, 3)}]`);
    const [second, first, third] = json;
    for (const { result } of [second, third]) {
      expect(JSON.parse(result.content[0].text).error).toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringMatching(/^value/),
      });
    }
    expect(first.result.structuredContent.value).toEqual({ 1: true, b: 0.5 });
  }
});

test("200 levels of a value are taken in a batch too", async () => {
  const server = await serveMcp();
  const value = "[".repeat(200) + "]".repeat(200);
  const entries = `[{"key":"k","value":${value}}]`;
  const { json } = await post(
    server,
    `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"keep_all","arguments":{"userId":"u","entries":${entries}}}}]`,
  );
  expect(JSON.stringify(json[0].result.structuredContent.entries)).toBe(entries);
});

test("faults in the envelope refuse the message and name their place", () => {
  const refused = (text: string) => {
    try {
      return parseBody(Buffer.from(text));
    } catch (error) {
      return error;
    }
  };
  const ping = '"jsonrpc":"2.0","method":"ping"';
  expect(refused(`{"id":1,${ping},"params":{"a":1e400}}`)).toMatchObject({
    id: 1,
    status: 400,
    code: -32600,
    message: expect.stringMatching(/^params\.a: the number 1e400/),
  });
  // Neither value of a doubled id can be called the right one; nor is a rounded id the client's.
  expect(refused(`{"id":1,"id":2,${ping}}`)).toMatchObject({ id: null, code: -32600 });
  expect(refused(`{"id":9007199254740993,${ping}}`)).toMatchObject({ id: null, code: -32600 });
  expect(refused(`{"id":1,${ping},"params":{"b":1,"10":2}}`)).not.toBeInstanceOf(BodyError);
});

test("bodies that cannot be read are answered in JSON-RPC", async () => {
  const server = await serveMcp();
  const unreadable = async (body: string, headers = {}) => {
    const { status, json } = await post(server, body, headers);
    expect(json).toEqual({
      jsonrpc: "2.0",
      error: { code: expect.any(Number), message: expect.any(String) },
      id: null,
    });
    return [status, json.error.code];
  };
  expect(await unreadable("{")).toEqual([400, -32700]);
  expect(await unreadable('{"a":01}')).toEqual([400, -32700]);
  expect(await unreadable("")).toEqual([400, -32700]);
  expect(await unreadable(" \n")).toEqual([400, -32700]);
  expect(await unreadable("[]")).toEqual([400, -32600]);
  expect(await unreadable("null")).toEqual([400, -32600]);
  expect(await unreadable("5")).toEqual([400, -32600]);
  expect(await unreadable("{}", { "content-type": "text/plain" })).toEqual([415, -32000]);
  expect(await unreadable("{}", { "content-type": undefined })).toEqual([415, -32000]);
  expect(await unreadable(`"${"x".repeat(4 * 1024 * 1024)}"`)).toEqual([413, -32000]);
});

test("bytes that are not UTF-8 are refused, not replaced", async () => {
  const { app } = await serveMcp();
  const { statusCode, payload } = await app.inject({
    method: "POST",
    url: "/mcp",
    headers: { authorization: "Bearer k", "content-type": "application/json" },
    payload: Buffer.from([0x22, 0xff, 0x22]),
  });
  expect([statusCode, JSON.parse(payload).error.code]).toEqual([400, -32700]);
});

test("a value of almost 4 MiB is read", async () => {
  const server = await serveMcp();
  const value = JSON.stringify('é\u0001"\\'.repeat(300_000));
  const { json } = await callText(server, "keep", `{"userId":"u","value":${value}}`);
  expect(JSON.stringify(json.result.structuredContent.value)).toBe(value);
});

test("a doubled arguments key is refused, since nobody knows which one was meant", async () => {
  const server = await serveMcp();
  const params = '{"name":"keep","arguments":{"userId":"u","value":1},"arguments":{}}';
  const { status, json } = await post(
    server,
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":${params}}`,
  );
  expect([status, json.id, json.error.code]).toEqual([400, 3, -32600]);
  expect(json.error.message).toMatch(/^params\.arguments: this key appears twice/);
});
