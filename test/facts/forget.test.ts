import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { openServices, type Services } from "./services.ts";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  const everything = async () =>
    JSON.stringify([
      await s.rows(),
      await s.events(),
      await s.query("select * from idempotent_calls"),
    ]);

  test("a forgotten fact is gone with every row that says the same, and no event tells of it", async () => {
    await s.remember({
      key: "home",
      value: "Quokka77",
      reasoning: "said Quokka77",
      sourceMessageId: "m1",
    });
    const again = await s.remember({ key: "home", value: "quokka77.", sourceMessageId: "m2" });
    // Its event keeps the value it spoke against, and its answer the values it contradicts.
    await s.remember({ key: "home", value: "Lyon", sourceMessageId: "m3", idempotencyKey: "i" });
    expect(await everything()).toMatch(/quokka77/i);

    expect(await s.facts.forget(s.owner, again.factId, "asked to")).toBe(2);

    expect(await everything()).not.toMatch(/quokka77/i);
    expect((await s.recall()).facts.map(({ value }) => value)).toEqual(["Lyon"]);
    const tombstones = (await s.events()).filter(({ kind }) => kind === "deleted");
    expect(tombstones).toHaveLength(2);
    expect(tombstones[0]).toMatchObject({
      actor: "key-1",
      reason: "asked to",
      oldValue: null,
      newValue: null,
    });
  });

  test("forgetting one value leaves the other's row and events alone", async () => {
    const lyon = await s.remember({ key: "home", value: "Lyon" });
    const paris = await s.remember({ key: "home", value: "Paris", reasoning: "moved" });
    await s.facts.forget(s.owner, lyon.factId, "wrong");
    const { events } = await s.facts.find(s.owner, paris.factId);
    expect(events).toMatchObject([{ kind: "contested", reason: "moved", newValue: "Paris" }]);
    expect(events[0]).not.toHaveProperty("oldValue");
  });

  test("of calls at once that forget a fact one succeeds, and leaves one tombstone", async () => {
    const { factId } = await s.remember({ key: "home", value: "Lyon" });
    const ten = Array.from({ length: 10 }, (_, n) => n);
    // Opens the connections, so that all calls find the fact before the first one has erased it.
    await Promise.all(ten.map(() => s.rows()));
    const results = await Promise.allSettled(
      ten.map((n) => s.facts.forget(s.owner, factId, `call ${n}`)),
    );
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect((await s.events()).filter(({ kind }) => kind === "deleted")).toHaveLength(1);
  });

  test("a forgotten fact can be stated anew, from the same source too", async () => {
    const call = { key: "home", value: "Lyon", sourceMessageId: "m1" };
    const { factId } = await s.remember(call);
    await s.facts.forget(s.owner, factId, "oops");
    expect(await s.remember(call)).toMatchObject({ outcome: "created" });
  });

  test("one person's forgotten fact leaves everybody else's", async () => {
    const { factId } = await s.remember({ scope: "user", userId: "u1", key: "f", value: "x" });
    await s.remember({ scope: "user", userId: "u2", key: "f", value: "x" });
    await s.facts.forget(s.owner, factId, "asked to");
    expect((await s.recall({ userId: "u1" })).facts).toEqual([]);
    expect((await s.recall({ userId: "u2", query: "x" })).facts).toHaveLength(1);
  });

  test("members forget user facts; org and store facts take an admin", async () => {
    const member = { ...s.owner, role: "member" } as const;
    const store = await s.orgs.createStore(s.owner, "main", "Main");
    const mine = await s.remember({ key: "k", value: 1 });
    const org = await s.remember({ scope: "org", key: "k", value: 1 });
    const shop = await s.remember({ scope: "store", storeId: store.id, key: "k", value: 1 });
    for (const { factId } of [org, shop]) {
      await expect(s.facts.forget(member, factId, "r")).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      expect(await s.facts.forget({ ...s.owner, role: "admin" }, factId, "r")).toBe(1);
    }
    expect(await s.facts.forget(member, mine.factId, "r")).toBe(1);
  });

  test("a foreign fact, one outside the key's pins and an unknown one get one answer", async () => {
    const user = await s.remember({ key: "k", value: 1 });
    const org = await s.remember({ scope: "org", key: "k", value: 1 });
    const store = await s.orgs.createStore(s.owner, "main", "Main");
    const outside = [
      [s.stranger, user],
      [{ ...s.owner, pins: { userId: store.id } }, user],
      [{ ...s.owner, pins: { userId: store.id } }, org],
      [{ ...s.owner, pins: { storeId: store.id } }, org],
      [{ ...s.owner, pins: { agentId: "maya" } }, user],
      [s.owner, { factId: store.id }],
      [s.owner, { factId: "nonsense" }],
    ] as const;
    for (const [principal, { factId }] of outside) {
      await expect(s.facts.forget(principal, factId, "r")).rejects.toMatchObject({
        code: "NOT_FOUND",
        message: "no fact has this id",
      });
    }
  });

  test("erasing a message erases what only it said; a claim with another source lives on", async () => {
    await s.remember({ key: "home", value: "Lyon", sourceMessageId: "m1" });
    await s.remember({ key: "home", value: "Lyon", sourceMessageId: "m2" });
    await s.remember({ key: "pet", value: "Quokka77", sourceMessageId: "m1#1" });
    const erased = await s.transactions.tenant(s.owner, (tx) =>
      s.facts.eraseBySource(s.owner, ["m1"], tx),
    );
    expect(erased).toBe(2);
    expect((await s.recall()).facts).toMatchObject([{ key: "home", confirmations: 1 }]);
    expect(await everything()).not.toContain("Quokka77");
  });

  test("a fact tells where it comes from", async () => {
    await s.remember({ key: "home", value: "Lyon", sourceMessageId: "m1", reasoning: "said so" });
    s.clock.advance(1000);
    const second = await s.remember({
      key: "home",
      value: "Lyon",
      sourceMessageId: "m2",
      confidence: 0.9,
    });
    const paris = await s.remember({ key: "home", value: "Paris", sourceMessageId: "m3" });
    const record = await s.facts.find(s.owner, second.factId);
    expect(record).toMatchObject({
      value: "Lyon",
      confirmations: 2,
      confidence: 0.9,
      contested: true,
      state: "live",
      contradicts: [{ factId: paris.factId, value: "Paris" }],
    });
    expect(record.statements.map(({ sourceMessageId }) => sourceMessageId)).toEqual(["m2", "m1"]);
    expect(record.events.map(({ kind }) => kind)).toEqual(["created", "confirmed", "merged"]);
    await expect(s.facts.find(s.stranger, second.factId)).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("a key of another agent reads the orchestrator's facts, and no third agent's", async () => {
    const atlas = await s.remember({ key: "k", value: 1 });
    const marco = await s.remember({
      scope: "user",
      userId: "5000000001",
      key: "k",
      value: 1,
      agentId: "marco",
    });
    const maya = { ...s.owner, pins: { agentId: "maya" } };
    expect(await s.facts.find(maya, atlas.factId)).toMatchObject({ agentId: "atlas" });
    await expect(s.facts.find(maya, marco.factId)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
