import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { NewRules, RestoreRules, RulesQuery } from "../../src/rules/rules.ts";
import { openServices, type Services } from "../facts/services.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  let admin: Principal;
  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
    admin = { ...s.owner, role: "admin", keyId: "key-of-an-admin" };
  });
  afterAll(() => opened.close());

  const save = (text: string, basedOn: number, more: object = {}) =>
    s.rules.save(admin, NewRules.parse({ text, basedOn, ...more }));
  const stable = async (input: object = {}, by = s.owner) => {
    const { stableBlock, etag } = await s.recall({ userId: undefined, ...input }, by);
    return { stableBlock, etag };
  };
  const block = (text: string) => `<rules>\n${text}\n</rules>`;

  test("rules are empty until some are saved, and then stand in the stable block and nowhere else", async () => {
    expect(await s.rules.current(admin, {})).toMatchObject({ version: 0, text: "", saved: null });
    const before = await stable();
    expect(before.stableBlock).toBe("");
    const saved = await save("# Tone\r\n\r\nBe *polite*.  \n\n", 0, { reason: "a new tone" });
    expect(saved).toMatchObject({
      ...{ version: 1, text: "# Tone\n\nBe *polite*.", reason: "a new tone", storeId: null },
      createdBy: "key-of-an-admin",
    });
    expect(saved.tokens).toBeGreaterThan(3);
    const after = await s.recall({ userId: undefined });
    expect(after.stableBlock).toBe(block("# Tone\n\nBe *polite*."));
    expect(after.etag).not.toBe(before.etag);
    expect(after.memoryBlock).toBe("");
    expect(after.facts).toEqual([]);
  });

  test("a store's rules come after the org's for whoever asks about the store, whatever scopes are asked for", async () => {
    const store = await s.orgs.createStore(s.owner, "paris", "Paris");
    await save("Of the org.", 0);
    await save("Of the store.", 0, { storeId: "paris" });
    const both = block("Of the org.\n\nOf the store.");
    expect((await stable()).stableBlock).toBe(block("Of the org."));
    expect((await stable({ storeId: "paris" })).stableBlock).toBe(both);
    expect((await stable({ storeId: store.id, scopes: ["org"] })).stableBlock).toBe(both);
    const pinned = { ...s.owner, role: "member", pins: { storeId: store.id } } as const;
    expect((await stable({}, pinned)).stableBlock).toBe(both);
    expect((await stable({ budgetTokens: 1, storeId: "paris" })).stableBlock).toBe(both);
    await save("", 1);
    expect((await stable({ storeId: "paris" })).stableBlock).toBe(block("Of the store."));
  });

  test("an earlier time is answered with the rules of that time, in an unknown store with nothing", async () => {
    await save("One.", 0);
    const early = s.clock.now();
    const before = new Date(early.getTime() - 1);
    s.clock.advance(1000);
    await save("Two.", 1);
    expect((await stable({ asOf: early.toISOString() })).stableBlock).toBe(block("One."));
    expect((await stable({ asOf: before.toISOString() })).stableBlock).toBe("");
    expect((await stable()).stableBlock).toBe(block("Two."));
    await expect(stable({ storeId: "nowhere", scopes: ["org"] })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("where memory is switched off agents get no rules either", async () => {
    await save("One.", 0);
    await s.orgs.changeMemory(s.owner, { enabled: false });
    expect((await stable()).stableBlock).toBe("");
    expect(await s.recalling.stableBlock(s.owner)).toEqual({ disabled: true, stableBlock: "" });
  });

  test("who saves on top of an older version than the last is refused, the same text twice is one version", async () => {
    await save("One.", 0);
    expect(await save("One.", 0)).toMatchObject({ version: 1 });
    await expect(save("Mine.", 0)).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(save("Mine.", 7)).rejects.toMatchObject({ code: "CONFLICT" });
    const both = await Promise.allSettled([save("Mine.", 1), save("Theirs.", 1)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await s.rules.current(admin, {})).toMatchObject({ version: 2 });
  });

  test("an old version comes back as a new one, and every version stays with who, when and why", async () => {
    const first = await save("One.", 0);
    s.clock.advance(1000);
    const second = await save("Two.", 1, { reason: "better" });
    const restore = RestoreRules.parse({ basedOn: 2 });
    const third = await s.rules.restore(admin, first.id, restore);
    expect(third).toMatchObject({ version: 3, text: "One.", reason: "version 1 again" });
    const page = await s.rules.versions(admin, RulesQuery.parse({ limit: "2" }));
    expect(page.versions.map(({ version }) => version)).toEqual([3, 2]);
    const before = page.nextBefore ?? undefined;
    const rest = await s.rules.versions(admin, RulesQuery.parse({ before }));
    expect(rest).toMatchObject({ versions: [{ version: 1 }], nextBefore: null });
    expect(await s.rules.diff(admin, second.id)).toMatchObject({
      before: { version: 1 },
      after: { version: 2, text: "Two." },
      lines: [{ kind: "removed" }, { kind: "added" }],
    });
    expect((await s.rules.diff(admin, first.id)).before).toBeNull();
    const same = await s.rules.diff(admin, third.id, first.id);
    expect(same.lines.map(({ kind }) => kind)).toEqual(["same"]);
    const events = (await s.audit.list(admin, { limit: 9, subjectKind: "rules" })).events;
    expect(events.map(({ action, reason }) => [action, reason])).toEqual([
      ["rules.saved", "version 1 again"],
      ["rules.saved", "better"],
      ["rules.saved", null],
    ]);
  });

  test("versions of another org and of other rules are not there", async () => {
    await s.orgs.createStore(s.owner, "paris", "Paris");
    const mine = await save("One.", 0);
    const overlay = await save("Two.", 0, { storeId: "paris" });
    await expect(s.rules.version(s.stranger, mine.id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(s.rules.diff(admin, mine.id, overlay.id)).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(
      s.rules.save(s.stranger, NewRules.parse({ text: "x", basedOn: 0, storeId: "paris" })),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    for (const by of [
      { ...s.owner, role: "member" },
      { ...s.owner, pins: { agentId: "maya" } },
    ] as const) {
      await expect(s.rules.current(by, {})).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
  });

  test("rules take 32 KiB of text that can be stored", () => {
    const isTaken = (text: string) => NewRules.safeParse({ text, basedOn: 0 }).success;
    expect(isTaken("é".repeat(16_384))).toBe(true);
    expect(isTaken("é".repeat(16_385))).toBe(false);
    expect(isTaken("\0")).toBe(false);
    expect(isTaken("\ud800")).toBe(false);
  });
});
