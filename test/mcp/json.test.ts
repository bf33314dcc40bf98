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
