import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { FactEdit } from "../../src/facts/fact.ts";
import type { FactPage } from "../../src/facts/listing.ts";
import { onBothDatabases } from "../support/database.ts";
import { openServices, type Services } from "./services.ts";

const DAY = 86_400_000;
const PLACE = { scope: "user", userId: "5000000001" } as const;
const ALL = { all: true, limit: 50 };
const SHOWN = { ...ALL, all: false };

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openServices>>;
  let s: Services;
  let member: Principal;

  beforeAll(async () => {
    opened = await openServices(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
    member = { ...s.owner, keyId: "key-2", role: "member" };
  });
  afterAll(() => opened.close());

  const listed = async (query = SHOWN, by = s.owner) =>
    (await s.review.list(by, PLACE, query)).facts.map(({ key, value }) => [key, value]);
  const recalled = async () => (await s.recall()).facts.map(({ value }) => value);
  const kinds = async () => (await s.events()).map(({ kind }) => kind);

  describe("the list", () => {
    test("shows live claims above 0.5, strongest first, and everything on demand", async () => {
      await s.remember({ key: "strong", value: 1, confidence: 0.9 });
      await s.remember({ key: "weak", value: 2, confidence: 0.4 });
      await s.remember({ key: "pinned", value: 3, confidence: 0.41 });
      const { facts } = await s.review.list(s.owner, PLACE, ALL);
      await s.review.decide(s.owner, facts[1]?.factId ?? "", "pin", null);
      const put = await s.remember({ key: "away", value: 4, confidence: 1 });
      await s.review.decide(s.owner, put.factId, "archive", "old");
      expect(await listed()).toEqual([
        ["strong", 1],
        ["pinned", 3],
      ]);
      expect(await listed(ALL)).toEqual([
        ["strong", 1],
        ["pinned", 3],
        ["weak", 2],
        ["away", 4],
      ]);
    });

    test("finds words wherever they stand and pages without end or overlap", async () => {
      for (let n = 0; n < 5; n++) await s.remember({ key: `likes.n${n}`, value: `Thé vert ${n}` });
      await s.remember({ key: "other", value: "coffee" });
      expect(await listed({ ...SHOWN, search: "THE likes" } as typeof SHOWN)).toHaveLength(5);
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page: FactPage = await s.review.list(s.owner, PLACE, { before, limit: 2 });
        seen.push(...page.facts.map(({ key }) => key));
        before = page.nextBefore ?? undefined;
      } while (before !== undefined);
      expect(new Set(seen).size).toBe(6);
      expect(seen).toHaveLength(6);
    });

    test("is of one's own org and pins only", async () => {
      await s.remember({ key: "mine", value: 1 });
      await s.remember({ key: "marcos", value: 1, agentId: "marco" });
      await s.remember({ key: "mayas", value: 1, agentId: "maya" });
      await expect(s.review.list(s.stranger, PLACE, ALL)).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      const maya = { ...s.owner, pins: { agentId: "maya" } };
      expect((await listed(ALL, maya)).map(([key]) => key).sort()).toEqual(["mayas", "mine"]);
      expect(await listed({ ...ALL, agentId: "marco" } as typeof ALL, maya)).toEqual([]);
      const other = { ...s.owner, pins: { userId: "telegram:6" } };
      await expect(s.review.list(other, PLACE, ALL)).rejects.toMatchObject({ code: "NOT_FOUND" });
    });
  });

  describe("a decision", () => {
    test("settles a contest at once, and says who did it", async () => {
      await s.remember({ key: "home", value: "Paris" });
      s.clock.advance(DAY);
      const london = await s.remember({ key: "home", value: "London" });
      expect(london.outcome).toBe("contradicts");
      await s.review.decide(s.owner, london.factId, "settle", "she moved");
      expect((await s.recall()).facts).toMatchObject([{ value: "London", contested: false }]);
      expect((await s.events()).slice(-2)).toMatchObject([
        { kind: "settled", actor: "key-1", reason: "she moved", factId: london.factId },
        { kind: "superseded", actor: "key-1" },
      ]);
    });

    test("that both are true ends the contest without losing one", async () => {
      const tea = await s.remember({ key: "drink", value: "tea" });
      await s.remember({ key: "drink", value: "coffee" });
      await s.review.decide(s.owner, tea.factId, "keep_all", null);
      expect((await s.recall()).facts).toMatchObject([{ contested: false }, { contested: false }]);
      expect((await s.remember({ key: "drink", value: "tea" })).outcome).toBe("confirmed");
    });

    test("to put away and to take back is undone by the other, for a faded one too", async () => {
      const { factId } = await s.remember({ key: "trip", value: "Rome", tier: "episodic" });
      await s.review.decide(s.owner, factId, "archive", null);
      expect(await recalled()).toEqual([]);
      await s.review.decide(s.owner, factId, "restore", null);
      expect(await recalled()).toEqual(["Rome"]);
      s.clock.advance(40 * DAY);
      await s.consolidate();
      expect(await recalled()).toEqual([]);
      await s.review.decide(s.owner, factId, "restore", null);
      expect(await recalled()).toEqual(["Rome"]);
      expect(await kinds()).toEqual(["created", "archived", "restored", "faded", "restored"]);
    });

    test("to pin keeps a claim from fading and expiring", async () => {
      const { factId } = await s.remember({ key: "code", value: "A7", tier: "ephemeral" });
      await s.review.decide(s.owner, factId, "pin", null);
      s.clock.advance(400 * DAY);
      await s.consolidate();
      expect((await s.recall()).facts).toMatchObject([{ value: "A7" }]);
      await s.review.decide(s.owner, factId, "unpin", null);
      await s.consolidate();
      expect(await s.rows()).toEqual([]);
    });

    test("about what has just expired comes too late", async () => {
      const { factId } = await s.remember({ key: "code", value: "A7", tier: "ephemeral" });
      s.clock.advance(14 * DAY);
      await expect(s.review.decide(s.owner, factId, "pin", null)).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });

    test("about an org's facts is for admins; about a stranger's fact there is none", async () => {
      const { factId } = await s.remember({ scope: "org", userId: undefined, key: "a", value: 1 });
      await expect(s.review.decide(member, factId, "pin", null)).rejects.toMatchObject({
        code: "FORBIDDEN",
      });
      await expect(s.review.decide(s.stranger, factId, "pin", null)).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
      await expect(s.review.edit(s.stranger, factId, 2, null)).rejects.toMatchObject({
        code: "NOT_FOUND",
      });
    });
  });

  describe("an edit", () => {
    test("replaces the value at once and keeps what was said in the history", async () => {
      const old = await s.remember({ key: "home", value: "Lyon", tags: ["t"], confidence: 0.6 });
      const next = await s.review.edit(s.owner, old.factId, "Nice", "a typing mistake");
      expect((await s.recall()).facts).toMatchObject([
        { factId: next, value: "Nice", tags: ["t"], confidence: 1, contested: false },
      ]);
      expect(await s.facts.find(s.owner, old.factId)).toMatchObject({
        state: "archived",
        archivedReason: "edited",
        supersededBy: next,
      });
      expect((await s.events()).at(-1)).toMatchObject({
        kind: "edited",
        factId: next,
        oldValue: '"Lyon"',
        newValue: '"Nice"',
      });
      await s.facts.forget(s.owner, old.factId, "asked");
      expect(JSON.stringify([await s.rows(), await s.events()])).not.toContain("Lyon");
    });

    test("at the same time as another is made once, or refused", async () => {
      const { factId } = await s.remember({ key: "home", value: "Lyon" });
      const same = await Promise.all(
        [1, 2, 3].map(() => s.review.edit(s.owner, factId, "Nice", null)),
      );
      expect(new Set(same).size).toBe(1);
      expect((await s.recall()).facts).toMatchObject([{ value: "Nice", confirmations: 1 }]);
      await expect(s.review.edit(s.owner, factId, "Metz", null)).rejects.toMatchObject({
        code: "CONFLICT",
      });
    });

    test("to the same value is refused, and so is one that no fact can hold", async () => {
      const { factId } = await s.remember({ key: "home", value: "Lyon" });
      await expect(s.review.edit(s.owner, factId, " lyon.", null)).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
      expect(FactEdit.safeParse({ value: "x".repeat(5000) }).success).toBe(false);
    });
  });
});
