import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await openApp("embedded");
});
afterAll(() => app.dispose());

async function send(url: string, payload: string | Buffer) {
  const { statusCode, body } = await app.http.inject({
    method: "POST",
    url,
    headers: {
      authorization: `Bearer ${app.operatorToken}`,
      "content-type": "application/json; charset=utf-8",
    },
    payload,
  });
  return { status: statusCode, body: JSON.parse(body) as Record<string, unknown> };
}

const TAKES_A_NAME = ["/v1/keys", "/v1/orgs", "/v1/stores"];

test.each(TAKES_A_NAME)(
  "%s refuses a name that cannot be stored as it is, by name",
  async (url) => {
    for (const name of [String.raw`a\ud800b`, String.raw`\udc00`, String.raw`a\u0000b`]) {
      const slug = url === "/v1/keys" ? "" : '"slug":"unstorable",';
      const { status, body } = await send(url, `{${slug}"name":"${name}"}`);
      expect([status, body.code]).toEqual([400, "INVALID_INPUT"]);
      expect(body.detail).toMatch(/^name: /);
    }
  },
);

test("text of that kind in the other fields is refused too", async () => {
  for (const text of [String.raw`\ud800`, String.raw`\u0000`]) {
    for (const field of ["pinStoreId", "pinUserId", "pinAgentId", "defaultAgent", "role", text]) {
      const { status, body } = await send("/v1/keys", `{"name":"k","${field}":"${text}"}`);
      expect([field, status, body.code]).toEqual([field, 400, "INVALID_INPUT"]);
    }
    const channel = `{"channel":"telegram","account":"a","secretVariable":"S","storeId":"${text}"}`;
    expect((await send("/v1/channels", channel)).status).toBe(400);
  }
});

test("bytes that are not UTF-8 are refused, not replaced", async () => {
  const name = Buffer.from([0x22, 0x61, 0xff, 0x22]);
  const body = Buffer.concat([Buffer.from('{"name":'), name, Buffer.from("}")]);
  expect(await send("/v1/keys", body)).toMatchObject({
    status: 400,
    body: { code: "INVALID_INPUT" },
  });
});

test("a body that is no JSON, or none, is refused; names in any script are kept", async () => {
  for (const broken of ["{", "", "[1", '{"__proto__":{"role":"owner"},"name":"k"}']) {
    expect((await send("/v1/keys", broken)).body).toMatchObject({ code: "INVALID_INPUT" });
  }
  const name = "cle\u0301 👩‍👧 ключ";
  const { status, body } = await send("/v1/keys", JSON.stringify({ name }));
  expect([status, body.info]).toEqual([201, expect.objectContaining({ name })]);
});
