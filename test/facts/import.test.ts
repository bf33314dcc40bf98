import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryEvents } from "../../src/db/schema/facts.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const fact = (key: string, value: unknown, source = key) => ({
  key,
  value,
  tags: ["person"],
  sourceMessageId: `file:${source}`,
});

onBothDatabases((engine) => {
  let app: TestApp;
  const clock = new TestClock();
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());

  const post = async (facts: object[], options: object = { scope: "org" }) => {
    const { status, body } = await app.v1("POST", "/v1/imports/facts", { ...options, facts });
    return status === 200 ? (body.outcomes as string[]) : status;
  };
  const recalled = async (query: string, userId?: string) => {
    const answer = await app.ok("recall", { query, ...(userId && { userId }) });
    return answer.facts as { key: string; value: unknown; confirmations: number }[];
  };

  test("facts are there once, are found at once and fold with what people say later", async () => {
    const batch = [fact("ana.likes_tea", "Likes tea"), fact("ana.lives_in_lyon", "Lives in Lyon")];
    expect(await post(batch)).toEqual(["new", "new"]);
    expect(await post(batch)).toEqual(["present", "present"]);
    expect(await post([...batch, fact("ana.sings", "Sings"), fact("ana.sings", "Sings")])).toEqual([
      "present",
      "present",
      "new",
      "present",
    ]);
    expect(await recalled("tea")).toMatchObject([{ key: "ana.likes_tea", value: "Likes tea" }]);
    const said = { scope: "org", key: "ana.likes_tea", sourceMessageId: "said" };
    clock.advance(1000);
    const answer = await app.ok("remember_fact", { ...said, value: "likes tea." });
    expect(answer).toMatchObject({ outcome: "confirmed" });
  });

  test("a key that has a statement already is folded, not overwritten", async () => {
    await app.ok("remember_fact", { scope: "org", key: "ben.home", value: "Rome" });
    clock.advance(1000);
    expect(await post([fact("ben.home", "Oslo"), fact("ben.home", "rome", "2")])).toEqual([
      "new",
      "new",
    ]);
    const contested = await app.ok("remember_fact", {
      scope: "org",
      key: "ben.home",
      value: "Oslo",
      sourceMessageId: "third",
    });
    expect(contested.contradicts).toMatchObject([{ value: "Rome" }]);
  });

  test("every imported fact has its event, by whoever imported it", async () => {
    await post([fact("event.one", 1), fact("event.two", 2)]);
    const events = await app.database.transactions.system("operator", (tx) =>
      tx.select().from(memoryEvents),
    );
    const mine = events.filter(({ newValue }) => newValue === "1" || newValue === "2");
    expect(mine.map(({ kind, actor }) => [kind, actor])).toEqual([
      ["created", "operator"],
      ["created", "operator"],
    ]);
  });

  test("a dry run says what would happen and makes neither facts nor people", async () => {
    const options = { scope: "user", userId: "telegram:77", dryRun: true };
    expect(await post([fact("a", 1), fact("a", 1)], options)).toEqual(["new", "present"]);
    expect((await app.call("get_user_context", { userId: "telegram:77" })).error?.code).toBe(
      "NOT_FOUND",
    );
    expect(await post([fact("a", 1)], { ...options, dryRun: false })).toEqual(["new"]);
    expect(await post([fact("a", 1), fact("b", 1)], options)).toEqual(["present", "new"]);
    expect(await recalled("a", "telegram:77")).toMatchObject([{ key: "a", value: 1 }]);
  });

  test("500 facts go in with the statements of one", async () => {
    const facts = Array.from({ length: 500 }, (_, at) => fact(`many.n${at}`, `value ${at}`));
    expect(await post(facts)).toEqual(facts.map(() => "new"));
    // The database has no statistics of them yet.
    expect(await post(facts)).toEqual(facts.map(() => "present"));
    expect(await recalled("value 499")).toContainEqual(
      expect.objectContaining({ key: "many.n499", value: "value 499" }),
    );
  });

  test.each([
    ["an unknown person", [fact("a", 1)], { scope: "user", userId: crypto.randomUUID() }, 404],
    ["nobody", [fact("a", 1)], { scope: "user" }, 400],
    ["somebody beside the org", [fact("a", 1)], { scope: "org", userId: "telegram:1" }, 400],
    ["a key that is none", [fact("A b", 1)], { scope: "org" }, 400],
    ["a value too long", [fact("a", "x".repeat(5000))], { scope: "org" }, 400],
    [
      "a source of the server's own",
      [fact("a", 1), { ...fact("a", 1), sourceMessageId: "call:1" }],
      { scope: "org" },
      400,
    ],
  ])("%s is refused", async (_name, facts, options, status) => {
    expect(await post(facts, options)).toBe(status);
  });
});
