import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";
import { onBothDatabases } from "../../support/database.ts";
import { hello, MESSAGES_SECRET, poster, secretOfLetter, signedHeaders } from "./posting.ts";

const SHOP_SECRET = secretOfLetter("s");
const SECRETS: Readonly<Record<string, string>> = {
  SHOP: SHOP_SECRET,
  OPEN: secretOfLetter("o"),
  BAD: "no signing secret",
  BOT: secretOfLetter("b"),
};

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:10.000Z");
  let app: TestApp;
  let post: ReturnType<typeof poster>;
  let acme: string;
  beforeAll(async () => {
    app = await openApp(engine, {
      clock: clock.now,
      env: { MESSAGES_SECRET },
      secretOf: (variable) => SECRETS[variable],
      background: false,
    });
    post = poster(app, clock.now);
    acme = await app.createKey({ role: "admin" }, "acme");
    await app.v1("POST", "/v1/stores", { slug: "lyon" }, "acme");
    await app.v1("POST", "/v1/stores", { slug: "paris" }, "acme");
    const account = (name: string, secretVariable: string, more: object = {}) =>
      app.v1(
        "POST",
        "/v1/channels",
        { channel: "web", account: name, secretVariable, ...more },
        "acme",
      );
    await account("shop", "SHOP", { storeId: "lyon" });
    await account("open", "OPEN", { autoApprove: true });
    await account("bad", "BAD");
    await account("unset", "UNSET");
    await account("bot", "BOT", { channel: "telegram" });
  });
  afterAll(() => app.dispose());

  const byShop = { secret: SHOP_SECRET, query: "?channel=web&account=shop" };
  const inShop = (fields: object = {}) => hello({ account: "shop", ...fields });
  const textsOf = async (userId: string, key?: string) => {
    const answer = await app.call("get_chat_history", { userId }, key);
    return (answer.value?.messages as { text: string }[] | undefined)?.map(({ text }) => text);
  };
  const statusOf = async (userId: string, key?: string) =>
    ((await app.ok("get_user_context", { userId }, key)).user as { status: string }).status;

  describe("a signature", () => {
    test("of the default org's host app speaks for that org, whatever the body says", async () => {
      expect((await post.signed(hello({ externalUserId: "ana" }))).status).toBe(200);
      expect(await textsOf("web:ana")).toEqual(["hello"]);
      expect(await textsOf("web:ana", acme)).toBeUndefined();
    });

    test("of an account speaks for the account's org and store, and approves people where it says so", async () => {
      expect((await post.signed(inShop({ externalUserId: "ben" }), byShop)).status).toBe(200);
      expect(await textsOf("web:ben", acme)).toEqual(["hello"]);
      expect(await textsOf("web:ben")).toBeUndefined();
      expect(await statusOf("web:ben", acme)).toBe("pending");
      const open = { secret: SECRETS.OPEN ?? "", query: "?channel=web&account=open" };
      await post.signed(hello({ account: "open", externalUserId: "cleo" }), open);
      expect(await statusOf("web:cleo", acme)).toBe("approved");
    });

    test("of an account is refused for another account, channel, store or person of another channel", async () => {
      for (const fields of [
        { account: "main" },
        { account: "open" },
        { channel: "sms" },
        { channel: "telegram" },
      ]) {
        expect((await post.signed(inShop(fields), byShop)).status).toBe(403);
      }
      expect((await post.signed(inShop({ storeId: "paris" }), byShop)).status).toBe(404);
      expect((await post.signed(inShop({ storeId: "lyon" }), byShop)).status).toBe(200);
      const named = inShop({ externalUserId: undefined, userId: "telegram:1" });
      expect((await post.signed(named, byShop)).status).toBe(400);
      expect((await post.signed(hello({ account: "shop" }))).status).toBe(403);
    });

    test.each(["telegram", "whatsapp"])(
      "cannot speak for %s, which proves itself who wrote",
      async (channel) => {
        expect((await post.signed(hello({ channel }))).status).toBe(403);
        const bot = { secret: SECRETS.BOT ?? "", query: `?channel=${channel}&account=bot` };
        expect((await post.signed(hello({ channel, account: "bot" }), bot)).status).toBeGreaterThan(
          400,
        );
        const deletion = { channel, id: "1", deleted: true };
        expect((await post.signed(deletion)).status).toBe(403);
      },
    );

    test.each([
      ["another secret's", { secret: SHOP_SECRET }],
      ["the host app's for an account", { query: "?channel=web&account=shop" }],
      ["an account's without its channel", { secret: SHOP_SECRET, query: "?account=shop" }],
      [
        "an account's on another channel",
        { secret: SHOP_SECRET, query: "?channel=sms&account=shop" },
      ],
      ["of an account that is unknown", { query: "?channel=web&account=nobody" }],
      ["of an account whose secret is not set", { query: "?channel=web&account=unset" }],
      ["of an account whose secret cannot sign", { query: "?channel=web&account=bad" }],
      ["of an hour ago", { at: new Date("2026-03-01T09:00:10.000Z") }],
      ["of the future", { at: new Date("2026-03-01T11:00:10.000Z") }],
    ])("%s is 401, and nothing is stored", async (_what, options) => {
      const answer = await post.signed(hello({ externalUserId: "eve" }), options);
      expect(answer).toMatchObject({ status: 401, body: { code: "FORBIDDEN" } });
      // One sentence for all: which accounts there are is not for everybody.
      expect(answer.body.detail).toMatch(/^sign the request with MESSAGES_SECRET, or /);
      expect(await textsOf("web:eve")).toBeUndefined();
    });

    test("is over the body's own bytes, and over its id and time", async () => {
      const payload = JSON.stringify(hello({ externalUserId: "eve" }));
      const headers = signedHeaders(payload, MESSAGES_SECRET, clock.now());
      for (const [body, change] of [
        [`${payload} `, {}],
        [payload.replace("hello", "hullo"), {}],
        [payload, { "webhook-id": "msg_other" }],
        [payload, { "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }],
        [payload, { "webhook-signature": "" }],
        [payload, { "webhook-signature": "v1," }],
        [payload, { "webhook-signature": "v2,abc v1,abc" }],
      ] as const) {
        expect((await post.send(body, { ...headers, ...change })).status).toBe(401);
      }
      expect((await post.send(payload, headers)).status).toBe(200);
    });
  });

  test("without a key and a signature nothing is taken; a key that is wrong is not helped by a signature", async () => {
    const payload = JSON.stringify(hello());
    for (const headers of [
      {},
      { authorization: "Bearer nobody" },
      { authorization: "Bearer nobody", "webhook-signature": "v1,abc" },
    ] as Record<string, string>[]) {
      expect((await post.send(payload, headers)).status).toBe(401);
    }
    const foreign = { authorization: `Bearer ${OWNER_KEY}`, host: "evil.example" };
    expect((await post.send(payload, foreign)).status).toBe(403);
  });

  describe("a key", () => {
    test("speaks for its org, with whichever account's name", async () => {
      const same = hello({ externalUserId: "ida", account: "shop" });
      expect((await post.keyed(same)).status).toBe(200);
      expect((await post.keyed({ ...same, text: "in acme" }, acme)).body.outcome).toBe("archived");
      expect([await textsOf("web:ida"), await textsOf("web:ida", acme)]).toEqual([
        ["hello"],
        ["in acme"],
      ]);
      await post.keyed({ channel: "web", account: "shop", id: same.id, deleted: true }, acme);
      expect([await textsOf("web:ida"), await textsOf("web:ida", acme)]).toEqual([["hello"], []]);
    });

    test.each(["telegram", "whatsapp"])("posts for %s only as an admin's", async (channel) => {
      const member = await app.createKey({}, "acme");
      expect((await post.keyed(hello({ channel }), member)).status).toBe(403);
      expect((await post.keyed({ channel, id: "x", deleted: true }, member)).status).toBe(403);
      expect((await post.keyed(hello({ channel, externalUserId: "77" }), acme)).status).toBe(200);
    });

    test("that is pinned to a person posts for nobody else, and finds nobody else's message", async () => {
      await post.keyed(hello({ externalUserId: "kim", id: "of-kim", text: "kim's" }), acme);
      await post.keyed(hello({ externalUserId: "lou", id: "of-lou", text: "lou's" }), acme);
      const key = await app.createKey({ pinUserId: "web:kim" }, "acme");
      expect((await post.keyed(hello({ externalUserId: undefined, text: "me" }), key)).status).toBe(
        200,
      );
      expect((await post.keyed(hello({ externalUserId: "kim", text: "me too" }), key)).status).toBe(
        200,
      );
      expect(await textsOf("web:kim", acme)).toEqual(["kim's", "me", "me too"]);
      const [theirs, nobodys] = await Promise.all(
        ["lou", "nobody"].map((externalUserId) => post.keyed(hello({ externalUserId }), key)),
      );
      expect(theirs).toEqual(nobodys);
      expect(theirs?.status).toBe(404);
      expect(await textsOf("web:nobody", acme)).toBeUndefined();
      const over = hello({ externalUserId: undefined, id: "of-lou", text: "planted" });
      expect((await post.keyed(over, key)).status).toBe(409);
      const erase = (id: string) => post.keyed({ channel: "web", id, deleted: true }, key);
      expect(await erase("of-lou")).toEqual(await erase("of-nobody"));
      expect(await textsOf("web:lou", acme)).toEqual(["lou's"]);
      await erase("of-kim");
      expect(await textsOf("web:kim", acme)).toEqual(["me", "me too"]);
    });

    test("that is pinned to a store posts into it, and reaches no other store's message", async () => {
      const key = await app.createKey({ pinStoreId: "lyon" }, "acme");
      const paris = hello({ externalUserId: "max", id: "in-paris", storeId: "paris" });
      await post.keyed(paris, acme);
      expect((await post.keyed(hello({ externalUserId: "max", text: "lyon" }), key)).status).toBe(
        200,
      );
      expect(
        (await post.keyed(hello({ externalUserId: "max", storeId: "paris" }), key)).status,
      ).toBe(404);
      expect(
        (await post.keyed(hello({ externalUserId: "max", storeId: "lyon" }), key)).status,
      ).toBe(200);
      const edit = hello({ externalUserId: "max", id: "in-paris", text: "planted" });
      expect((await post.keyed(edit, key)).status).toBe(409);
      await post.keyed({ channel: "web", id: "in-paris", deleted: true }, key);
      expect(await textsOf("web:max", acme)).toEqual(["hello", "lyon", "hello"]);
    });
  });
});

test("every message counts against the budget of whoever posts", async () => {
  const clock = new TestClock("2026-03-01T10:00:10.000Z");
  const app = await openApp("embedded", {
    clock: clock.now,
    env: { MESSAGES_SECRET, RATE_LIMIT_PER_MINUTE: "5" },
  });
  const post = poster(app, clock.now);
  const messages = ["a", "b", "c"].map((id) => ({
    ...{ channel: "web", id, externalUserId: "ana", direction: "inbound" },
    ...{ text: "hello", sentAt: "2026-03-01T10:00:00Z" },
  }));
  for (const send of [post.keyed, post.signed]) {
    expect((await send({ messages })).status).toBe(200);
    expect(await send({ messages })).toMatchObject({
      status: 429,
      body: { code: "RATE_LIMITED" },
    });
  }
  await app.dispose();
});

test("without MESSAGES_SECRET nobody signs for the default org", async () => {
  const clock = new TestClock("2026-03-01T10:00:10.000Z");
  const app = await openApp("embedded", { clock: clock.now });
  const post = poster(app, clock.now);
  expect((await post.signed({ channel: "web" })).status).toBe(401);
  await app.dispose();
});
