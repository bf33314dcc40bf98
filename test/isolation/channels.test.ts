import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, TELEGRAM_SECRET, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { rowsOf } from "./rows.ts";
import { v1 } from "./rpc.ts";
import { deliver, type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

onBothDatabases((engine) => {
  let app: TestApp;
  let one: SeededOrg;
  let two: SeededOrg;
  beforeAll(async () => {
    app = await openApp(engine, {
      clock: new TestClock().now,
      secretOf: (variable) => (variable === "UNSET" ? undefined : secretOf(variable)),
    });
    one = await seedOrg(app, "one");
    two = await seedOrg(app, "two");
  });
  afterAll(() => app.dispose());

  const rows = (org: SeededOrg) => rowsOf(app.database.transactions, org.orgId);
  const textsOf = async (org: SeededOrg, userId: string) => {
    const answer = await app.call("get_chat_history", { userId }, org.keys.member);
    return ((answer.value?.messages ?? []) as { text: string }[]).map(({ text }) => text);
  };
  const addAccount = (org: SeededOrg, account: string, more: object = {}) =>
    app.v1(
      "POST",
      "/v1/channels",
      { channel: "telegram", account, secretVariable: "S", ...more },
      org.slug,
    );

  test("an account takes its own secret and no other account's, also of the same org", async () => {
    await addAccount(one, "second", { secretVariable: "SECOND" });
    const before = [await rows(one), await rows(two)];
    const update = privateMessage(100, { message_id: 50, text: "planted" });
    for (const secret of [
      two.secret,
      TELEGRAM_SECRET,
      secretOf("SECOND"),
      one.secretVariable,
      "",
      `${one.secret}x`,
    ]) {
      expect(await deliver(app, one.account, secret, update)).toBe(401);
    }
    expect(await deliver(app, "main", one.secret, update)).toBe(401);
    expect([await rows(one), await rows(two)]).toEqual(before);
    expect(await deliver(app, one.account, one.secret, update)).toBe(200);
  });

  test("a delivery is the account's org's, even where person, message and text are the same", async () => {
    const twin = () => privateMessage(555, { message_id: 60, text: "same words" });
    const before = await rows(two);
    expect(await deliver(app, one.account, one.secret, twin())).toBe(200);
    expect(await rows(two)).toEqual(before);
    expect(await textsOf(one, "telegram:555")).toEqual(["same words"]);
    expect(await textsOf(two, "telegram:555")).toEqual([]);
    expect(await deliver(app, two.account, two.secret, twin())).toBe(200);
    expect(await textsOf(two, "telegram:555")).toEqual(["same words"]);
    expect(await textsOf(one, "telegram:555")).toEqual(["same words"]);
  });

  test.each([
    ["unknown", "nobody"],
    ["of another case", "BOT-ONE"],
    ["longer than a name can be", "x".repeat(90)],
    ["with U+0000", "bot%00one"],
    ["that is a path", "..%2Fbot-one"],
    ["that is a pattern", "bot-%25"],
    ["with a quote", "bot-one'--"],
  ])("an account %s is 404, with and without a secret", async (_what, account) => {
    for (const secret of [one.secret, "wrong", ""]) {
      expect(await deliver(app, account, secret, privateMessage(1, { message_id: 1 }))).toBe(404);
    }
  });

  describe("which variable holds a secret is the operator's to say", () => {
    test("no key of an org can bind a variable of the server's environment, whatever its role", async () => {
      for (const secretVariable of [two.secretVariable, "DATABASE_URL", "MINE"]) {
        const body = { channel: "telegram", account: "mine", secretVariable };
        expect((await v1(app, one.keys.owner, "POST", "/v1/channels", body)).status).toBe(403);
      }
      expect(await deliver(app, "mine", secretOf("MINE"), {})).toBe(404);
    });

    test("an account whose variable is not set is as good as none", async () => {
      expect((await addAccount(one, "unset", { secretVariable: "UNSET" })).status).toBe(201);
      expect(await deliver(app, "unset", "", {})).toBe(404);
      expect(await deliver(app, "unset", "undefined", {})).toBe(404);
    });

    test("the account of the environment cannot be defined again, nor an odd one at all", async () => {
      for (const body of [
        { account: "main" },
        { account: "a b" },
        { account: "" },
        { account: "../x" },
        { secretVariable: "lower_case" },
        { secretVariable: "A=B" },
        { secretVariable: "" },
        { channel: "Carrier Pigeon" },
        { channel: "whatsapp" },
        { channel: "web", tokenVariable: "A_TOKEN" },
        { verifyVariable: "NOT_OF_TELEGRAM" },
        { forwardUrl: "https://agent.example" },
        { forwardSecretVariable: "WITHOUT_URL" },
        { forwardUrl: "file:///etc/passwd", forwardSecretVariable: "SECRET" },
        { orgId: two.orgId },
      ]) {
        expect((await addAccount(one, "odd", body)).status).toBe(400);
      }
    });
  });

  test("an account is one org's at a time: taken it is a conflict, removed it is free for another", async () => {
    await addAccount(one, "shared", { secretVariable: "OF_ONE" });
    expect((await addAccount(two, "shared")).status).toBe(409);
    const path = "/v1/channels/telegram/shared";
    expect((await v1(app, two.keys.owner, "DELETE", path)).status).toBe(404);
    expect((await v1(app, one.keys.admin, "DELETE", path)).status).toBe(204);
    expect(await deliver(app, "shared", secretOf("OF_ONE"), {})).toBe(404);
    expect((await addAccount(two, "shared", { secretVariable: "OF_TWO" })).status).toBe(201);
    expect(await deliver(app, "shared", secretOf("OF_ONE"), {})).toBe(401);
    const update = privateMessage(666, { message_id: 70, text: "to two" });
    expect(await deliver(app, "shared", secretOf("OF_TWO"), update)).toBe(200);
    expect(await textsOf(two, "telegram:666")).toEqual(["to two"]);
    expect(await textsOf(one, "telegram:666")).toEqual([]);
  });

  // Fails for as long as channel_updates is unique by (channel, account, update_id), without the org.
  test("an update id that the account's earlier org has had is no redelivery to the next one", async () => {
    await addAccount(one, "moved");
    const first = privateMessage(777, { message_id: 80, text: "to one" }, 4711);
    expect(await deliver(app, "moved", secretOf("S"), first)).toBe(200);
    await v1(app, one.keys.admin, "DELETE", "/v1/channels/telegram/moved");
    await addAccount(two, "moved");
    const other = privateMessage(777, { message_id: 81, text: "to two" }, 4711);
    expect(await deliver(app, "moved", secretOf("S"), other)).toBe(200);
    expect(await textsOf(two, "telegram:777")).toEqual(["to two"]);
  });
});
