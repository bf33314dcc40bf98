import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { signedIn } from "../ui/browser.ts";
import { links, memoryOf, remembers, saysOnTelegram, saysOnWeb, undo } from "./people.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, {
      clock: clock.now,
      env: { TELEGRAM_AUTO_APPROVE: "true" },
      background: false,
    });
  });
  afterAll(() => app.dispose());

  /** Somebody on Telegram and somebody on the web, each with a message, an entry and facts. */
  const twoPeople = async (number: number) => {
    const telegram = `telegram:${number}`;
    const web = `web:guest-${number}`;
    await saysOnTelegram(app, number, `the parcel ${number} is late`);
    await saysOnWeb(app, web, `where is my teapot ${number}`);
    await app.ok("update_memory", { userId: telegram, key: "city", value: "Lyon" });
    clock.advance(1000);
    await app.ok("update_memory", { userId: web, key: "city", value: "Nice" });
    await app.ok("update_memory", { userId: web, key: "plan", value: "gold" });
    await remembers(app, telegram, "drink", "tea");
    await remembers(app, telegram, "pet.name", "Rex");
    await remembers(app, web, "drink", "coffee");
    await remembers(app, web, "pet.name", "rex.");
    await remembers(app, web, "size", 42);
    return { telegram, web };
  };

  test("two people who turn out to be one have one memory, under every name, with each message's channel", async () => {
    const { telegram, web } = await twoPeople(1);
    const before = [await memoryOf(app, telegram), await memoryOf(app, web)] as const;
    await links(app, telegram, web);
    const one = await memoryOf(app, telegram);
    expect(one).toMatchObject({
      id: before[0].id,
      channels: ["telegram", "web"],
      entries: { city: "Nice", plan: "gold" },
      facts: ["drink=coffee?", "drink=tea?", "pet.name=Rex", "size=42"],
    });
    expect(one.said.toSorted()).toEqual([
      "telegram: the parcel 1 is late",
      "web: noted",
      "web: where is my teapot 1",
    ]);
    for (const name of [web, before[0].id, before[1].id]) {
      expect(await memoryOf(app, name)).toEqual(one);
    }
  });

  test("people who sent a sticker or pressed a button are linked and parted as well", async () => {
    const silent = "telegram:900";
    const from = { id: 900, is_bot: false, first_name: "P" };
    const press = { id: "press", from, chat_instance: "x", data: "yes" };
    const sticker = { file_id: "F", file_unique_id: "u" };
    await app.telegram(privateMessage(900, { message_id: 1, sticker }));
    await app.telegram({ update_id: 99_001, callback_query: press });
    await saysOnWeb(app, "web:guest-900", "where is my teapot");
    const before = await memoryOf(app, silent);
    expect(before.said).toHaveLength(2);
    const link = await links(app, "web:guest-900", silent);
    expect((await memoryOf(app, silent)).said).toHaveLength(4);
    await undo(app, link);
    expect(await memoryOf(app, silent)).toEqual(before);
  });

  test("undone, each has what was theirs and what they wrote since; what was written by id alone stays", async () => {
    const { telegram, web } = await twoPeople(2);
    const before = [await memoryOf(app, telegram), await memoryOf(app, web)] as const;
    const link = await links(app, telegram, web);
    await saysOnTelegram(app, 2, "said while linked", 60);
    await saysOnWeb(app, web, "typed while linked");
    clock.advance(1000);
    await app.ok("update_memory", { userId: telegram, key: "from", value: "telegram" });
    await app.ok("update_memory", { userId: web, key: "from", value: "web" });
    await app.ok("update_memory", { userId: before[0].id, key: "by id", value: 1 });
    await remembers(app, web, "drink", "coffee");
    await remembers(app, telegram, "hat", "red");
    await undo(app, link);
    const after = [await memoryOf(app, telegram), await memoryOf(app, web)] as const;
    expect(after[0]).toMatchObject({
      id: before[0].id,
      channels: ["telegram"],
      entries: { city: "Lyon", from: "telegram", "by id": 1 },
      facts: ["drink=tea", "hat=red", "pet.name=Rex"],
      said: ["telegram: the parcel 2 is late", "telegram: said while linked"],
    });
    expect(after[1]).toMatchObject({
      id: before[1].id,
      channels: ["web"],
      entries: { city: "Nice", plan: "gold", from: "web" },
      facts: ["drink=coffee", "pet.name=rex.", "size=42"],
    });
    expect(after[1].said).toHaveLength(4);
  });

  test("a link without anything between is undone to the letter", async () => {
    const { telegram, web } = await twoPeople(3);
    const rows = async () => [await memoryOf(app, telegram), await memoryOf(app, web)];
    const before = await rows();
    await undo(app, await links(app, telegram, web));
    expect(await rows()).toEqual(before);
  });

  test("the linked person is in no list, and their id means the other one", async () => {
    const { telegram, web } = await twoPeople(4);
    const [one, other] = [await memoryOf(app, telegram), await memoryOf(app, web)];
    const link = await links(app, telegram, web);
    const listed = async (search: string) => {
      const { body } = await app.v1("GET", `/v1/users?search=${encodeURIComponent(search)}`);
      return (body.people as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed("guest-4")).toEqual([one.id]);
    expect(await listed(other.id)).toEqual([one.id]);
    await undo(app, link);
    expect(await listed("guest-4")).toEqual([other.id]);
  });

  test("a key that is bound to the linked person is bound to the other one, until the undo", async () => {
    const { telegram, web } = await twoPeople(5);
    const key = await app.createKey({ pinUserId: web });
    const seen = async () => {
      const { user } = await app.ok("get_user_context", {}, key);
      return (user as { id: string }).id;
    };
    const [one, other] = [await memoryOf(app, telegram), await memoryOf(app, web)];
    expect(await seen()).toBe(other.id);
    const link = await links(app, telegram, web);
    expect(await seen()).toBe(one.id);
    await app.ok("update_memory", { key: "pinned", value: true }, key);
    expect((await memoryOf(app, telegram)).entries).toMatchObject({ pinned: true });
    await undo(app, link);
    expect(await seen()).toBe(other.id);
  });

  test("what was said on either channel is found by searching, and after the undo by its own person alone", async () => {
    const { telegram, web } = await twoPeople(6);
    const found = async (userId: string) => {
      const { messages } = await app.ok("recall", { userId, query: "parcel late teapot" });
      const texts = (messages as { text: string }[]).map(({ text }) => text);
      return texts.filter((text) => text !== "noted").sort();
    };
    const link = await links(app, telegram, web);
    expect(await found(web)).toEqual(["the parcel 6 is late", "where is my teapot 6"]);
    await undo(app, link);
    expect(await found(telegram)).toEqual(["the parcel 6 is late"]);
    expect(await found(web)).toEqual(["where is my teapot 6"]);
  });

  describe("what people decide about facts while two are linked", () => {
    interface Fact {
      readonly factId: string;
      readonly key: string;
      readonly value: unknown;
    }
    const factsOf = async (userId: string, more = {}) => {
      const { facts } = await app.ok("recall", { userId, scopes: ["user"], ...more });
      return facts as Fact[];
    };
    const under = async (userId: string, key: string, more = {}) => {
      const found = (await factsOf(userId, more)).filter((fact) => fact.key === key);
      return found.map(({ value }) => value).sort();
    };
    const idOf = async (userId: string, value: unknown) =>
      (await factsOf(userId)).find((fact) => fact.value === value)?.factId ?? "";
    const page = () => signedIn(app, OWNER_KEY);

    test("an edit goes with the fact it is about; what it said before is known as of then", async () => {
      const { telegram, web } = await twoPeople(7);
      const link = await links(app, telegram, web);
      const factId = await idOf(web, 42);
      const at = clock.now().toISOString();
      clock.advance(1000);
      const edit = { kind: "json", value: "44", reason: "measured" };
      const edited = await (await page()).post(`/ui/facts/${factId}/edit`, edit);
      expect(edited.status).toBe(303);
      expect(await under(telegram, "size")).toEqual(await under(web, "size"));
      clock.advance(1000);
      await undo(app, link);
      expect(await under(web, "size")).toEqual([44]);
      expect(await under(telegram, "size")).toEqual([]);
      expect(await under(web, "size", { asOf: at })).toEqual([42]);
      expect(await under(telegram, "drink", { asOf: at })).toEqual(["tea"]);
    });

    test("a pin stays on the fact, and what was accepted over the other's fact lets that one live again", async () => {
      const { telegram, web } = await twoPeople(8);
      const link = await links(app, telegram, web);
      expect(await under(telegram, "drink")).toEqual(["coffee", "tea"]);
      const browser = await page();
      clock.advance(1000);
      const decide = (factId: string, decision: string) =>
        browser.post(`/ui/facts/${factId}`, { decision });
      expect((await decide(await idOf(web, "coffee"), "settle")).status).toBe(303);
      const pinned = await idOf(web, 42);
      expect((await decide(pinned, "pin")).status).toBe(303);
      expect(await under(telegram, "drink")).toEqual(["coffee"]);
      await undo(app, link);
      expect(await under(telegram, "drink")).toEqual(["tea"]);
      expect(await under(web, "drink")).toEqual(["coffee"]);
      const [size] = await app.database.transactions.system("operator", (tx) =>
        tx.execute(sql`select pinned from user_facts where id = ${pinned}`),
      );
      expect(size).toEqual({ pinned: true });
    });

    test("a source of the same name on both sides is two statements, and has its name again after the undo", async () => {
      const { telegram, web } = await twoPeople(9);
      const form = { sourceMessageId: "form-1" };
      await remembers(app, telegram, "town", "Lyon", form);
      await remembers(app, web, "town", "Nice", form);
      const link = await links(app, telegram, web);
      expect(await under(web, "town")).toEqual(["Lyon", "Nice"]);
      await undo(app, link);
      expect(await under(telegram, "town")).toEqual(["Lyon"]);
      expect(await under(web, "town")).toEqual(["Nice"]);
      // The source's name is its own again: it is known, and cannot say another thing.
      const again = await remembers(app, web, "town", "Nice", form);
      expect(again).toMatchObject({ outcome: "created" });
      const other = await app.call("remember_fact", {
        ...{ scope: "user", userId: web, key: "town", value: "Metz" },
        ...form,
      });
      expect(other.error?.code).toBe("CONFLICT");
    });

    test("a fact that both stated is one fact of two statements, and two facts again", async () => {
      const { telegram, web } = await twoPeople(10);
      const link = await links(app, telegram, web);
      expect(await under(web, "pet.name")).toEqual(["Rex"]);
      await app.v1("POST", "/v1/consolidate");
      await undo(app, link);
      expect(await under(telegram, "pet.name")).toEqual(["Rex"]);
      expect(await under(web, "pet.name")).toEqual(["rex."]);
      await app.v1("POST", "/v1/consolidate");
      expect(await under(web, "pet.name")).toEqual(["rex."]);
      const crossing = await app.database.transactions.system("operator", (tx) =>
        tx.execute(sql`
          select 1 from user_facts f join user_facts o on o.id in (f.merged_into, f.superseded_by)
          where o.user_id <> f.user_id`),
      );
      expect(crossing).toHaveLength(0);
    });
  });

  test("a person cannot be linked to themselves, to nobody, or while one of them is blocked", async () => {
    const { telegram, web } = await twoPeople(11);
    const link = async (to: string, other: string) =>
      (await app.v1("POST", `/v1/users/${to}/links`, { with: other, reason: "x" })).status;
    expect(await link(telegram, telegram)).toBe(409);
    expect(await link(telegram, "web:nobody")).toBe(404);
    const block = { status: "blocked", reason: "x" };
    await app.v1("PUT", `/v1/users/${web}/status`, block);
    expect(await link(telegram, web)).toBe(409);
    expect(await link(web, telegram)).toBe(409);
    await app.v1("PUT", `/v1/users/${web}/status`, { status: "approved", reason: "x" });
    const id = await links(app, telegram, web);
    expect(await link(telegram, web)).toBe(409);
    await undo(app, id);
    expect((await app.v1("POST", `/v1/links/${id}/undo`, {})).status).toBe(409);
  });
});
