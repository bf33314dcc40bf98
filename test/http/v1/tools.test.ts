import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";
import { BotApiDouble } from "../../support/bot-api-double.ts";
import { privateMessage } from "../../support/telegram.ts";

let app: TestApp;
let telegram: BotApiDouble;
beforeAll(async () => {
  telegram = await BotApiDouble.start();
  telegram.chats.add(100);
  app = await openApp("embedded", {
    env: { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url },
  });
  await app.telegram(privateMessage(100, { message_id: 1, text: "hello" }));
});
afterAll(async () => {
  await app.dispose();
  await telegram.stop();
});

async function send(
  method: "GET" | "PUT" | "POST" | "DELETE",
  url: string,
  body?: string,
  headers = {},
) {
  const answer = await app.http.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${OWNER_KEY}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { payload: body }),
  });
  return { status: answer.statusCode, text: answer.body };
}

test.each(['"10.5"', "null", '{"b":1,"a":{"__proto__":1}}', '[1e2,"é👩‍👧"]', "0.1", '""'])(
  "the entry %s comes back as it was sent",
  async (value) => {
    const url = `/v1/users/telegram:100/memory/${encodeURIComponent("a key/with 50% é")}`;
    expect((await send("PUT", url, `{"value":${value}}`)).status).toBe(200);
    const { text } = await send("GET", url);
    expect(text).toContain(`"value":${value === '[1e2,"é👩‍👧"]' ? '[100,"é👩‍👧"]' : value},`);
  },
);

test.each([
  ['{"value":{"id":9007199254740993}}', "value.id: the number 9007199254740993"],
  ['{"value":1,"value":2}', "value: this key appears twice"],
  ['{"value":{"b":1,"10":2}}', "value.10: the order"],
  [String.raw`{"value":"\ud800"}`, "value: U+0000 or half"],
])("what JavaScript would change is refused by name: %s", async (body, detail) => {
  const { status, text } = await send("PUT", "/v1/users/telegram:100/memory/k", body);
  expect([status, JSON.parse(text).detail]).toEqual([400, expect.stringContaining(detail)]);
});

test("a key of 256 characters of four bytes has an address", async () => {
  const url = `/v1/users/telegram:100/memory/${encodeURIComponent("🐦".repeat(256))}`;
  expect((await send("PUT", url, '{"value":1}')).status).toBe(200);
  expect((await send("DELETE", `${url}?reason=over`)).text).toBe('{"deleted":true}');
});

test("a call that is repeated with its key is made once, and another body is a conflict", async () => {
  const header = { "idempotency-key": '"once"' };
  const fact = (value: string) =>
    send("POST", "/v1/facts", JSON.stringify({ scope: "org", key: "a.b", value }), header);
  const first = await fact("x");
  expect(first.status).toBe(201);
  expect((await fact("x")).text).toBe(first.text);
  expect((await fact("y")).status).toBe(409);
});

test("a text and a picture are sent, once for each key", async () => {
  const url = "/v1/users/telegram:100/messages";
  const text = JSON.stringify({ text: "on its way" });
  for (let time = 0; time < 2; time++) {
    const { status, text: answer } = await send("POST", url, text, { "idempotency-key": "s1" });
    expect([status, JSON.parse(answer).messages]).toEqual([
      201,
      [{ id: expect.any(String), platformMessageId: expect.any(String) }],
    ]);
  }
  const image = JSON.stringify({ image: "https://example.com/a.png", caption: "look" });
  expect((await send("POST", url, image)).status).toBe(201);
  expect(telegram.sent.map((one) => one.text ?? one.caption)).toEqual(["on its way", "look"]);
});

test("a turn whose words cannot be stored is archived all the same", async () => {
  const turn = String.raw`{"userId":"web:7","channel":"web","userMessage":"a\u0000b","assistantMessage":"ok"}`;
  expect((await send("POST", "/v1/turns", turn)).status).toBe(201);
  const { text } = await send("GET", "/v1/users/web:7/messages");
  expect(JSON.parse(text).messages[0].text).toBe("a\ufffdb");
});
