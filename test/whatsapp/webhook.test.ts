import { createHmac } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ReceivingAccount } from "../../src/channels/account.ts";
import { AppError } from "../../src/errors.ts";
import { loggerOptions } from "../../src/http/log.ts";
import { type IncomingDelivery, whatsappWebhook } from "../../src/whatsapp/webhook.ts";
import { delivery, message, RECEIVED } from "./fixtures.ts";

const SECRET = "app-secret";
const TOKEN = "verify-me";
const main: ReceivingAccount = {
  account: "main",
  orgId: "org-1",
  secret: SECRET,
  verifyToken: TOKEN,
  autoApprove: false,
};
const shop = { ...main, account: "shop", orgId: "org-2", storeId: "store-7", secret: "0ther" };
const { verifyToken: _, ...open } = { ...main, account: "open" };

let app: FastifyInstance;
let stored: IncomingDelivery[];
let logged: string;
let archive: (incoming: IncomingDelivery) => Promise<unknown>;
let accounts: (name: string) => Promise<ReceivingAccount | undefined>;

beforeEach(async () => {
  stored = [];
  logged = "";
  archive = async (incoming) => stored.push(incoming);
  accounts = async (name) => [main, shop, open].find(({ account }) => account === name);
  const stream = {
    write: (line: string) => {
      logged += line;
    },
  };
  app = Fastify({ logger: loggerOptions("debug", stream) });
  await app.register(whatsappWebhook, {
    accounts: (name) => accounts(name),
    archive: (incoming) => archive(incoming),
    clock: () => RECEIVED,
  });
});
afterEach(() => app.close());

const sign = (body: string | Buffer, secret = SECRET) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

function post(
  body: string | Buffer,
  options: { url?: string; signature?: string | null; headers?: object } = {},
) {
  const { url = "/webhooks/whatsapp/main", signature = sign(body), headers = {} } = options;
  return app.inject({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      ...(signature !== null && { "x-hub-signature-256": signature }),
      ...headers,
    },
    payload: body,
  });
}

const hello = JSON.stringify(delivery({ messages: [message({ text: { body: "hello canary" } })] }));

describe("the challenge", () => {
  const ask = (query: string, url = "/webhooks/whatsapp/main") => app.inject(`${url}?${query}`);
  const good = `hub.mode=subscribe&hub.verify_token=${TOKEN}&hub.challenge=1158201444`;

  test("is answered as plain text to whoever shows the verify token", async () => {
    for (const url of [
      "/webhooks/whatsapp",
      "/webhooks/whatsapp/main",
      "/webhooks/whatsapp/shop",
    ]) {
      const answer = await ask(good, url);
      expect([answer.statusCode, answer.body]).toEqual([200, "1158201444"]);
      expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    }
  });

  test.each([
    ["no token", "hub.mode=subscribe&hub.challenge=1"],
    ["an empty token", "hub.mode=subscribe&hub.verify_token=&hub.challenge=1"],
    ["a wrong token", `hub.mode=subscribe&hub.verify_token=${TOKEN}x&hub.challenge=1`],
    ["the app secret", `hub.mode=subscribe&hub.verify_token=${SECRET}&hub.challenge=1`],
    ["two tokens", `${good}&hub.verify_token=${TOKEN}`],
    ["another mode", good.replace("=subscribe", "=unsubscribe")],
    ["no challenge", `hub.mode=subscribe&hub.verify_token=${TOKEN}`],
    ["nothing", ""],
  ])("is refused with %s", async (_what, query) => {
    expect((await ask(query)).statusCode).toBe(403);
  });

  test("is refused where no token is set, and unknown for an unknown account", async () => {
    const empty = "hub.mode=subscribe&hub.verify_token=&hub.challenge=1";
    expect((await ask(empty, "/webhooks/whatsapp/open")).statusCode).toBe(403);
    expect((await ask(good, "/webhooks/whatsapp/nobody")).statusCode).toBe(404);
  });

  test("that holds a page comes back as text that no browser renders", async () => {
    const script = encodeURIComponent("<script>alert(1)</script>");
    const answer = await ask(good.replace("1158201444", script));
    expect(answer.headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
    });
  });
});

test("a signed delivery is archived for the account's org and store, then answered", async () => {
  const answer = await post(hello);
  expect([answer.statusCode, answer.body]).toEqual([200, "{}"]);
  await post(hello, { url: "/webhooks/whatsapp/shop", signature: sign(hello, "0ther") });
  await post(hello, { url: "/webhooks/whatsapp" });
  expect(stored).toMatchObject([
    { account: { account: "main", orgId: "org-1" }, receivedAt: RECEIVED },
    { account: { account: "shop", orgId: "org-2", storeId: "store-7" } },
    { account: { account: "main" } },
  ]);
  expect(JSON.stringify(stored)).not.toContain(SECRET);
  expect(JSON.stringify(stored)).not.toContain(TOKEN);
});

test.each(["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"] as const)(
  "%s is answered with the methods to use",
  async (method) => {
    for (const url of ["/webhooks/whatsapp", "/webhooks/whatsapp/x"]) {
      const { statusCode, headers } = await app.inject({ method, url });
      expect([statusCode, headers.allow]).toEqual([405, "GET, POST"]);
    }
  },
);

describe("without a good signature", () => {
  test.each([
    ["missing", null],
    ["empty", ""],
    ["another secret's", sign(hello, "0ther")],
    ["another body's", sign(`${hello} `)],
    ["without its name", sign(hello).replace("sha256=", "")],
    ["SHA-1", `sha1=${createHmac("sha1", SECRET).update(hello).digest("hex")}`],
    ["a digit short", sign(hello).slice(0, -1)],
    ["a digit long", `${sign(hello)}0`],
    ["the secret itself", `sha256=${SECRET}`],
  ])("%s: refused with one answer, and nothing is stored", async (_what, signature) => {
    const answer = await post(hello, { signature });
    expect(answer.statusCode).toBe(401);
    expect(answer.json()).toEqual({
      error: { code: "FORBIDDEN", message: "Wrong or missing signature." },
    });
    expect(stored).toEqual([]);
  });

  test("an unknown account is not found, whatever the signature", async () => {
    const answer = await post(hello, { url: "/webhooks/whatsapp/nobody" });
    expect(answer.statusCode).toBe(404);
  });

  test("a body without any is not even read", async () => {
    await app.listen({ host: "127.0.0.1", port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const request = httpRequest({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/webhooks/whatsapp/main",
      headers: { "content-length": "100" },
    });
    request.on("error", () => {});
    request.flushHeaders();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection]).toEqual([401, "close"]);
    await once(answer.resume(), "close");
  });
});

test("the signature is over the bytes, whatever they spell", async () => {
  const escaped = hello.replace("hello", "h\\u00e9llo");
  for (const body of [escaped, ` ${hello}\n`, Buffer.from([0xff, 0xfe, 0x00]), "", '{"entry":1']) {
    expect((await post(body)).statusCode).toBe(200);
  }
  expect(stored).toHaveLength(5);
});

test.each([
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "!",
])("the media type %s does not matter", async (type) => {
  expect((await post(hello, { headers: { "content-type": type } })).statusCode).toBe(200);
  expect(stored[0]?.items[0]?.actions).toMatchObject([{ type: "message" }]);
});

test("what is longer than 4 MiB is refused: nobody can have signed what was not read", async () => {
  const long = Buffer.alloc(4 * 1024 * 1024 + 1, " ");
  expect((await post(long)).statusCode).toBe(413);
  expect(stored).toEqual([]);
});

test("what cannot be stored is to be sent again", async () => {
  archive = async () => {
    throw new AppError("UNAVAILABLE", "the database is away");
  };
  const away = await post(hello);
  expect([away.statusCode, away.headers["retry-after"]]).toEqual([503, "5"]);
  archive = async () => {
    throw new Error("hello canary");
  };
  expect((await post(hello)).statusCode).toBe(500);
  accounts = async () => {
    throw new AppError("UNAVAILABLE", "starting");
  };
  expect((await post(hello)).statusCode).toBe(503);
});

test("no log line holds a secret, a token or a word", async () => {
  await post(hello);
  await post(hello, { signature: sign(hello, "0ther") });
  await post("hello canary");
  await app.inject(`/webhooks/whatsapp?hub.mode=subscribe&hub.verify_token=${TOKEN}`);
  for (const secret of ["canary", SECRET, TOKEN, sign(hello)]) expect(logged).not.toContain(secret);
  expect(logged).toContain("whatsapp delivery kept raw");
});
