import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Behaviour } from "../support/anthropic-double.ts";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, HOUR, type Learning, MINUTE, openLearning } from "./learning.ts";

const DAY = 24 * HOUR;
const GOOD = draftOf("home.city", "Lyon");

onBothDatabases((engine) => {
  let learning: Learning;
  let person = 2000;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());
  beforeEach(async () => {
    await learning.fresh();
    person++;
  });
  const calls = () => learning.double.received.length;
  /** One turn of the person, and what the provider does with it now. */
  const learn = async (behaviour: Behaviour, text = "I moved to Lyon") => {
    learning.double.next(behaviour);
    const turn = await learning.turn(person, text);
    await learning.settle();
    return turn;
  };
  const turn = async () => (await learning.turnsOf(person))[0];

  describe("the daily limit", () => {
    test("turns over it wait for the next day, visibly, and none is lost", async () => {
      await learning.setOrg({ extractionDailyLimit: 2 });
      learning.double.behaviour = { facts: [GOOD] };
      const people = [person, person + 3000, person + 6000];
      for (const each of people) await learning.turn(each, "I moved to Lyon");
      await learning.settle();
      expect(calls()).toBe(2);
      const waiting = await learning.app.v1("GET", "/v1/turns?state=closed");
      expect(waiting.body).toMatchObject({ turns: [{ reason: "daily-limit" }] });
      await learning.later(HOUR);
      expect(calls()).toBe(2);
      await learning.later(DAY);
      expect(calls()).toBe(3);
      for (const each of people) expect(await learning.factsOf(each)).toHaveLength(1);
      expect((await learning.usage()).slice(-2).map(({ turns }) => turns)).toEqual([2, 1]);
    });

    test("calls that the provider did not take leave the day's turns to others", async () => {
      await learning.setOrg({ extractionDailyLimit: 1 });
      await learn({ status: 500 });
      learning.double.next({ facts: [GOOD] });
      await learning.later(MINUTE);
      expect(await turn()).toMatchObject({ state: "extracted" });
      expect((await learning.usage()).at(-1)).toMatchObject({ turns: 1 });
    });

    test("of 0 is off: turns are skipped, and the server works", async () => {
      await learning.setOrg({ extractionDailyLimit: 0 });
      await learn({ facts: [GOOD] });
      expect(calls()).toBe(0);
      expect(await turn()).toMatchObject({ state: "skipped", reason: "extraction-off" });
    });

    // Two processes need a PostgreSQL between them.
    test.skipIf(engine === "embedded")(
      "two at once that want the last turn of the day do not both get it",
      async () => {
        await learning.setOrg({ extractionDailyLimit: 1 });
        const replica = await learning.replica();
        learning.double.behaviour = { facts: [GOOD] };
        await learning.turn(person, "I moved to Lyon");
        await learning.turn(person + 3000, "I moved to Lyon");
        await Promise.all([learning.settle(), replica.jobs.runDue()]);
        expect(calls()).toBe(1);
      },
    );
  });

  test("tokens are counted by day, and in the metrics, also of answers that were of no use", async () => {
    const tokensOf = async (direction: string) => {
      const [line] = await learning.metric(
        `souvenir_extraction_tokens_total{direction="${direction}"}`,
      );
      return Number(line?.split(" ")[1] ?? 0);
    };
    const before = await tokensOf("input");
    await learn({ text: "lorem ipsum", inputTokens: 500, outputTokens: 20 });
    learning.double.next({ facts: [GOOD], inputTokens: 600, outputTokens: 30 });
    await learning.later(MINUTE);
    expect((await learning.usage()).at(-1)).toMatchObject({
      turns: 2,
      inputTokens: 1100,
      outputTokens: 50,
    });
    expect((await tokensOf("input")) - before).toBe(1100);
    expect(await turn()).toMatchObject({ inputTokens: 1100, outputTokens: 50 });
    const shown = await learning.app.v1("GET", "/v1/turns/usage?days=1");
    expect(shown.body).toMatchObject({ days: [{ turns: 2, inputTokens: 1100, outputTokens: 50 }] });
  });
});
