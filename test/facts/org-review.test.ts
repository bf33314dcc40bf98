import { v7 } from "uuid";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Principal } from "../../src/access/principal.ts";
import { onBothDatabases } from "../support/database.ts";
import { openServices, type Services } from "./services.ts";

const DAY = 86_400_000;
const WATCH = { scope: "org", tags: ["veille"] };

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

  const inbox = (by: Principal = s.owner, before?: string) =>
    s.orgReview.contradictions(by, { before });
  const contest = async (over: object, values: readonly unknown[] = ["Paris", "London"]) => {
    const said = [];
    for (const value of values) {
      s.clock.advance(DAY);
      said.push((await s.remember({ key: "home", ...over, value })).factId);
    }
    return said;
  };
  const pinnedTo = async (userId: string): Promise<Principal> => {
    const person = await s.transactions.tenant(s.owner, (tx) => s.users.find(s.owner, userId, tx));
    return { ...s.owner, role: "member", pins: { userId: person.userId } };
  };

  describe("the inbox", () => {
    test("shows what speaks against each other in the whole org, the newest first, with who said it", async () => {
      await contest({ scope: "org", key: "policy" }, ["30 days", "60 days"]);
      const turn = await s.chat.archiveTurn(s.owner, {
        ...{ userId: "5000000001", channel: "web", userMessage: "I moved to London" },
        ...{ assistantMessage: "Noted.", agentId: "atlas" },
      });
      await s.remember({ key: "home", value: "Paris" });
      s.clock.advance(DAY);
      const source = { sourceMessageId: turn.userMessageId };
      await s.remember({ key: "home", value: "London", ...source });
      const { contests, nextBefore } = await inbox();
      expect(contests.map(({ scope, key }) => [scope, key])).toEqual([
        ["user", "home"],
        ["org", "policy"],
      ]);
      expect(nextBefore).toBeNull();
      const [home] = contests;
      expect(home?.values.map(({ value }) => value)).toEqual(["London", "Paris"]);
      expect(home?.values[0]?.statements).toMatchObject([
        { source: { kind: "message", text: "I moved to London", channel: "web", edited: false } },
      ]);
      expect(home?.values[1]?.statements).toMatchObject([{ source: { kind: "call" } }]);
    });

    test("is empty of what somebody settled, and of what faded", async () => {
      const [paris = ""] = await contest({});
      await contest({ key: "trip", tier: "episodic" });
      await s.review.decide(s.owner, paris, "settle", null);
      expect((await inbox()).contests.map(({ key }) => key)).toEqual(["trip"]);
      s.clock.advance(60 * DAY);
      expect((await inbox()).contests).toEqual([]);
    });

    test("is read page by page, each key once, though both its values are on the way", async () => {
      for (let n = 0; n < 22; n++) await contest({ key: `slot.n${n}` }, [1, 2]);
      const seen: string[] = [];
      let before: string | undefined;
      do {
        const page = await inbox(s.owner, before);
        seen.push(...page.contests.map(({ key }) => key));
        before = page.nextBefore ?? undefined;
      } while (before !== undefined);
      expect(seen).toEqual(Array.from({ length: 22 }, (_, n) => `slot.n${21 - n}`));
      await expect(inbox(s.owner, "1_x")).rejects.toMatchObject({ code: "INVALID_INPUT" });
    });

    test("of a key of one person holds that person's, and no word of anybody else", async () => {
      const foreign = await s.chat.archiveTurn(s.owner, {
        ...{ userId: "telegram:77", channel: "web", userMessage: "my secret" },
        ...{ assistantMessage: "Noted.", agentId: "atlas" },
      });
      await contest({ scope: "org", key: "policy" });
      await contest({ userId: "telegram:77" });
      await contest({});
      const source = { sourceMessageId: foreign.userMessageId };
      await s.remember({ key: "home", value: "Rome", ...source });
      const { contests } = await inbox(await pinnedTo("5000000001"));
      expect(contests.map(({ scope, key }) => [scope, key])).toEqual([["user", "home"]]);
      expect(JSON.stringify(contests)).not.toContain("my secret");
      expect(contests[0]?.values[0]?.statements).toMatchObject([{ source: { kind: "hidden" } }]);
    });

    test("is of one's own org, agent and store", async () => {
      await contest({ scope: "org", key: "policy", agentId: "marco" });
      expect((await inbox(s.stranger)).contests).toEqual([]);
      expect((await inbox({ ...s.owner, pins: { agentId: "maya" } })).contests).toEqual([]);
      expect((await inbox({ ...s.owner, pins: { storeId: v7() } })).contests).toHaveLength(1);
    });
  });

  test("what was learned of other sites is listed newest first, of one site on demand", async () => {
    await s.remember({ ...WATCH, key: "watch.acme.pricing", value: "from 19 euros" });
    s.clock.advance(DAY);
    await s.remember({ ...WATCH, key: "watch.globex.pricing", value: "from 29 euros" });
    await s.remember({ scope: "org", key: "our.pricing", value: "from 25 euros" });
    const keys = async (query = {}, by = s.owner) =>
      (await s.orgReview.watch(by, query)).facts.map(({ key }) => key);
    expect(await keys()).toEqual(["watch.globex.pricing", "watch.acme.pricing"]);
    expect(await keys({ site: "acme" })).toEqual(["watch.acme.pricing"]);
    expect(await keys({}, s.stranger)).toEqual([]);
    s.clock.advance(200 * DAY);
    expect(await keys()).toEqual([]);
  });
});
