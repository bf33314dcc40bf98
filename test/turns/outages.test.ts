import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Behaviour } from "../support/anthropic-double.ts";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, HOUR, type Learning, MINUTE, openLearning } from "./learning.ts";

const _DAY = 24 * HOUR;
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
  const values = async () => (await learning.factsOf(person)).map(({ value }) => value);

  test("a provider that is down for an hour is asked rarely, and what waited drains without a new write", async () => {
    learning.double.behaviour = { status: 500 };
    const people = Array.from({ length: 8 }, (_, n) => 3000 + n);
    for (const each of people) await learning.turn(each, "I moved to Lyon");
    for (let minute = 0; minute < 60; minute += 2) await learning.later(2 * MINUTE);
    expect(calls()).toBeLessThan(20);
    learning.double.behaviour = { facts: [GOOD] };
    for (const minutes of [5, 30, 60, 60]) await learning.later(minutes * MINUTE);
    for (const each of people) {
      expect(await learning.turnsOf(each)).toMatchObject([{ state: "extracted", factCount: 1 }]);
      expect(await learning.factsOf(each)).toHaveLength(1);
    }
  });

  test("an hour of garbage changes no fact", async () => {
    await learn({ facts: [GOOD] });
    const before = await learning.facts();
    learning.double.behaviour = { text: '{"facts":[{"key":"home.city","value":"Nowhere"' };
    for (let minute = 0; minute < 60; minute += 10) {
      await learning.turn(person, `message of minute ${minute}`);
      await learning.later(10 * MINUTE);
    }
    expect(await learning.facts()).toEqual(before);
    learning.double.behaviour = { facts: [] };
    await learning.exhaust();
    expect((await learning.turnsOf(person)).every(({ state }) => state === "extracted")).toBe(true);
  });

  test("facts that cannot be stored are paid for, booked and tried again: it costs a second call, and stores each fact once", async () => {
    const { app, settle } = learning;
    learning.double.behaviour = { facts: [GOOD] };
    await learning.turn(person, "I moved to Lyon");
    await learning.system((tx) =>
      tx.execute("alter table turns add constraint no_more check (state <> 'extracted') not valid"),
    );
    await settle();
    expect(calls()).toBe(1);
    expect(await values()).toEqual([]);
    expect(await turn()).toMatchObject({ state: "closed", inputTokens: 700, outputTokens: 60 });
    expect(await learning.usage()).toMatchObject([
      { turns: 1, inputTokens: 700, outputTokens: 60 },
    ]);
    await learning.system((tx) => tx.execute("alter table turns drop constraint no_more"));
    await learning.later(30_000);
    expect(calls()).toBe(2);
    expect(await turn()).toMatchObject({ state: "extracted", inputTokens: 1400 });
    expect(await values()).toEqual(["Lyon"]);
    // And once more after the commit, as if the process had died before it noted that the job is done.
    await learning.system((tx) =>
      tx.execute(
        "update jobs set state = 'queued', run_at = '2026-01-01' where kind = 'turns.extract'",
      ),
    );
    await app.jobs.runDue();
    expect(calls()).toBe(2);
    expect(await values()).toEqual(["Lyon"]);
  });

  // Two processes need a PostgreSQL between them.
  test.skipIf(engine === "embedded")("two servers learn from each turn once", async () => {
    const replica = await learning.replica();
    learning.double.behaviour = { facts: [GOOD] };
    const people = Array.from({ length: 12 }, (_, n) => 4000 + n);
    for (const each of people) await learning.turn(each, "I moved to Lyon");
    await Promise.all([learning.settle(), replica.jobs.runDue()]);
    expect(calls()).toBe(12);
    for (const each of people) expect(await learning.factsOf(each)).toHaveLength(1);
  });
});
