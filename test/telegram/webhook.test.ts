import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AppError } from "../../src/errors.ts";
import { loggerOptions } from "../../src/http/log.ts";
import { type IncomingUpdate, telegramWebhook } from "../../src/telegram/webhook.ts";
import { ana, message, RECEIVED } from "./fixtures.ts";

const SECRET = "s3cret_Token-1";
const main = { account: "main", orgId: "org-1", secret: SECRET, autoApprove: false };
const shop = {
  account: "shop",
  orgId: "org-2",
  storeId: "store-7",
  secret: "0ther",
  autoApprove: true,
};

let app: FastifyInstance;
let stored: IncomingUpdate[];
let logged: string;
let archive: (incoming: IncomingUpdate) => Promise<unknown>;
let accounts: (name: string) => Promise<typeof main | undefined>;

beforeEach(async () => {
  stored = [];
  logged = "";
  archive = async (incoming) => stored.push(incoming);
  accounts = async (name) =>
    [main, shop, { ...main, account: "open", secret: "" }].find(({ account }) => account === name);
  const stream = {
    write: (line: string) => {
      logged += line;
    },
  };
  app = Fastify({ logger: loggerOptions("debug", stream) });
  await app.register(telegramWebhook, {
    accounts: (name) => accounts(name),
    archive: (incoming) => archive(incoming),
    clock: () => RECEIVED,
  });
});
afterEach(() => app.close());

function post(
  body: string | object,
  options: { url?: string; secret?: string | null; headers?: object } = {},
) {
  const { url = "/webhooks/telegram/main", secret = SECRET, headers = {} } = options;
  return app.inject({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      ...(secret !== null && { "x-telegram-bot-api-secret-token": secret }),
      ...headers,
    },
    payload: body,
  });
}

const kept = () => stored.map(({ update }) => update.actions[0]);
const hello = { update_id: 1001, message: message({ text: "hello canary" }) };

test("an update is archived for the account's org and store, then answered with an empty object", async () => {
  const answer = await post(hello);
  expect([answer.statusCode, answer.body]).toEqual([200, "{}"]);
  await post(hello, { url: "/webhooks/telegram/shop", secret: "0ther" });
  expect(stored).toMatchObject([
    {
      account: { account: "main", orgId: "org-1" },
      receivedAt: RECEIVED,
      update: { updateId: 1001 },
    },
    { account: { account: "shop", orgId: "org-2", storeId: "store-7" } },
  ]);
  expect(JSON.stringify(stored)).not.toContain(SECRET);
});

test("a URL without an account means the one that the environment defines", async () => {
  expect((await post(hello, { url: "/webhooks/telegram" })).statusCode).toBe(200);
  expect(stored).toMatchObject([{ account: { account: "main" } }]);
});

test.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] as const)(
  "%s is answered with the method to use, whatever the account and the secret",
  async (method) => {
    for (const url of ["/webhooks/telegram", "/webhooks/telegram/main", "/webhooks/telegram/x"]) {
      const { statusCode, headers } = await app.inject({ method, url });
      expect([statusCode, headers.allow]).toEqual([405, "POST"]);
    }
  },
);

describe("before the secret is proven", () => {
  test.each([
    ["missing", null],
    ["empty", ""],
    ["wrong", "s3cret_Token-2"],
    ["a prefix of it", SECRET.slice(0, -1)],
    ["another account's", shop.secret],
  ])(
    "a secret that is %s is refused with one answer, and nothing is stored",
    async (_what, secret) => {
      const answer = await post(hello, { secret });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({
        error: { code: "FORBIDDEN", message: "Wrong or missing secret token." },
      });
      expect(stored).toEqual([]);
    },
  );

  test("an account without a secret accepts nobody", async () => {
    const answer = await post(hello, { url: "/webhooks/telegram/open", secret: "" });
    expect(answer.statusCode).toBe(401);
  });

  test("an unknown account is not found, whatever the secret", async () => {
    const answer = await post(hello, { url: "/webhooks/telegram/nobody" });
    expect(answer.statusCode).toBe(404);
    expect(stored).toEqual([]);
  });

  test("the body is not read: the refusal comes without it and ends the connection", async () => {
    await app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const request = httpRequest({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/webhooks/telegram/main",
      headers: { "content-length": "100" },
    });
    request.on("error", () => {});
    request.flushHeaders();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection]).toEqual([401, "close"]);
    await once(answer.resume(), "close");
  });
});

describe("after a good secret everything is kept and answered 200", () => {
  test.each([
    ["no JSON", '{"update_id":1'],
    ["empty", ""],
    ["not UTF-8", Buffer.from([0xff, 0xfe, 0x00])],
    ["nested beyond reason", "[".repeat(100_000)],
    ["nested beyond reason, and closed", `${"[".repeat(200_000)}${"]".repeat(200_000)}`],
    ["a number", "5"],
    ["null", "null"],
  ])("a body that is %s", async (_what, body) => {
    expect((await post(body)).statusCode).toBe(200);
    expect(kept()).toMatchObject([
      { type: "raw", reason: "unreadable", message: { kind: "unsupported" } },
    ]);
  });

  test("keys that would change a prototype are ordinary keys", async () => {
    const text = '{"update_id":1,"__proto__":{"a":1},"constructor":{"prototype":{"b":1}}}';
    expect((await post(text)).statusCode).toBe(200);
    expect(kept()).toMatchObject([{ type: "raw", reason: "unknown" }]);
    expect(JSON.stringify(kept())).toContain('"__proto__":{"a":1}');
  });

  test("an id beyond 2^53 keeps its digits and is nobody's", async () => {
    const text = JSON.stringify({ update_id: 1, message: message({ text: "x" }) });
    await post(text.replaceAll(`${ana.id}`, "9007199254740993"));
    expect(kept()).toMatchObject([{ type: "raw", reason: "malformed" }]);
    expect(JSON.stringify(kept())).toContain('"id":"9007199254740993"');
    expect(JSON.stringify(kept())).not.toMatch(/"sender"|740992/);
  });

  test.each(["text/plain", "json", "application/json; charset=latin1", "multipart/form-data"])(
    "a content type of %s",
    async (type) => {
      expect(
        (await post(JSON.stringify(hello), { headers: { "content-type": type } })).statusCode,
      ).toBe(200);
      expect(kept()).toMatchObject([{ type: "message", message: { text: "hello canary" } }]);
    },
  );

  test("a body longer than 4 MiB is kept by its beginning", async () => {
    const text = `{"update_id":1,"message":"${"é".repeat(2_200_000)}"}`;
    expect((await post(text)).statusCode).toBe(200);
    const [action] = kept();
    if (action?.type !== "raw") throw new Error("not raw");
    expect(action.message.payload.bytes).toBe(Buffer.byteLength(text));
    expect(action.message.payload.body).toMatch(/^\{"update_id":1,"message":"é+\uFFFD?$/);
    expect(`${action.message.payload.body}`.length).toBeLessThan(70_000);
  });

  test("the beginning of a longer body is never taken for an update", async () => {
    await post(`{"update_id":1}${" ".repeat(4 * 1024 * 1024)},`);
    expect(kept()).toMatchObject([{ type: "raw", reason: "unreadable" }]);
  });

  test("a body just within 4 MiB is read whole", async () => {
    const text = "x".repeat(4 * 1024 * 1024 - 300);
    await post({ update_id: 1, message: message({ text }) });
    expect(kept()).toMatchObject([{ type: "message", message: { payload: { text } } }]);
  });
});

describe("when nothing could be stored Telegram is told to send it again", () => {
  test("a database that is down is 503 with a time to come back", async () => {
    archive = async () => Promise.reject(new AppError("UNAVAILABLE", "The database is down."));
    const answer = await post(hello);
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "5"]);
    archive = async (incoming) => stored.push(incoming);
    expect((await post(hello)).statusCode).toBe(200);
    expect(kept()).toMatchObject([{ message: { text: "hello canary" } }]);
  });

  test("so is one that is down when the account is looked up", async () => {
    accounts = async () => Promise.reject(new AppError("UNAVAILABLE", "The database is down."));
    expect((await post(hello)).statusCode).toBe(503);
  });

  test("a bug is 500 and says nothing about itself", async () => {
    archive = async () => Promise.reject(new Error("insert failed, params: hello canary"));
    const answer = await post(hello);
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({
      error: { code: "INTERNAL", message: "Not stored; send it again." },
    });
  });
});

test("logs hold ids and codes, never a word of a person, a name or a secret", async () => {
  await post(hello);
  await post({ update_id: 1002, odd: { from: ana, text: "hello canary" } });
  await post("hello canary");
  await post(hello, { secret: "wrong-canary" });
  const cause = Object.assign(new Error("hello canary"), { name: "PostgresError", code: "23505" });
  archive = async () => Promise.reject(new Error("params: hello canary", { cause }));
  await post(hello);
  expect(logged).not.toMatch(/canary|Ana|s3cret/);
  expect(logged).toContain('"account":"main","updateId":1001,"updateKind":"message"');
  expect(logged).toMatch(
    /"err":\{"type":"Error",.*"cause":\{"type":"PostgresError","code":"23505"/,
  );
  expect(logged).toContain('"updateId":1002,"updateKind":"odd","reason":"unknown"');
});

test("other routes of the server keep their own body parser", async () => {
  app.post("/echo", async (request) => request.body);
  const answer = await app.inject({ method: "POST", url: "/echo", payload: { a: 1 } });
  expect(answer.json()).toEqual({ a: 1 });
});
