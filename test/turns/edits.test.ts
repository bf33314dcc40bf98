import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, HOUR, type Learning, openLearning } from "./learning.ts";

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
  const turn = async () => (await learning.turnsOf(person))[0];
  const values = async () => (await learning.factsOf(person)).map(({ value }) => value);

  test("archives what the message said before, and learns from what it says now", async () => {
    const { say, answer, edit, double, settle } = learning;
    const id = await say(person, "I moved to Paris");
    await answer(person, "ok");
    double.next({ facts: [draftOf("home.city", "Paris")] }, { facts: [GOOD] });
    await settle();
    await edit(person, id, "I moved to Lyon");
    await settle();
    const [message] = await learning.messagesOf(person);
    expect(await learning.factsOf(person)).toMatchObject([
      { value: "Paris", sourceMessageId: message?.id, withdrawnAt: learning.clock.now() },
      { value: "Lyon", sourceMessageId: `${message?.id}#1`, withdrawnAt: null },
    ]);
    expect(calls()).toBe(2);
    expect(learning.double.received.at(-1)?.body.messages[0]?.content).not.toContain("Paris");
    expect(await turn()).toMatchObject({
      state: "extracted",
      inputTokens: 1400,
      outputTokens: 120,
    });
  });

  test("leaves what another message of the turn said, stored once", async () => {
    const { say, answer, edit, double, settle } = learning;
    const id = await say(person, "I moved to Paris");
    await say(person, "I like tea");
    await answer(person, "ok");
    const tea = draftOf("likes.tea", true, { from: 2 });
    double.next({ facts: [draftOf("home.city", "Paris"), tea] }, { facts: [GOOD, tea] });
    await settle();
    await edit(person, id, "I moved to Lyon");
    await settle();
    const live = (await learning.factsOf(person)).filter(({ withdrawnAt }) => withdrawnAt === null);
    expect(live.map(({ value }) => value).sort()).toEqual(["Lyon", true]);
    expect(await learning.factsOf(person)).toHaveLength(3);
  });

  test("that an import brings is not learned from: what the words before said is archived, and nothing is asked or told", async () => {
    const { app, say, answer, double, settle, clock, messagesOf, later } = learning;
    await say(person, "I moved to Paris");
    await answer(person, "ok");
    double.next({ facts: [draftOf("home.city", "Paris")] }, { facts: [GOOD] });
    await settle();
    const [archived] = await messagesOf(person);
    clock.advance(HOUR);
    const { status, body } = await app.v1("POST", "/v1/imports/messages", {
      ...{ channel: "telegram", account: "main", update: true },
      messages: [
        {
          ...{ direction: "inbound", kind: "text", text: "I moved to Lyon", forwarded: false },
          ...{ sentAt: archived?.sentAt, editedAt: clock.now(), payload: {} },
          conversationId: archived?.conversationId,
          platformMessageId: archived?.platformMessageId,
          sender: { externalId: `${person}` },
        },
      ],
    });
    expect([status, body]).toMatchObject([200, { outcomes: ["updated"] }]);
    await later(HOUR);
    expect(calls()).toBe(1);
    expect(await turn()).toMatchObject({ state: "extracted" });
    expect((await messagesOf(person))[0]?.text).toBe("I moved to Lyon");
    expect(await learning.factsOf(person)).toMatchObject([
      { value: "Paris", withdrawnAt: expect.any(Date) },
    ]);
  });

  test("before the extraction changes only what is read", async () => {
    const { say, answer, edit, double, settle } = learning;
    const id = await say(person, "I moved to Paris");
    await edit(person, id, "I moved to Lyon");
    await answer(person, "ok");
    double.next({ facts: [GOOD] });
    await settle();
    expect(calls()).toBe(1);
    const [message] = await learning.messagesOf(person);
    expect(await learning.factsOf(person)).toMatchObject([{ sourceMessageId: `${message?.id}#1` }]);
  });

  test.each(["an edit", "a deletion", "an opt-out"])(
    "that comes while the provider thinks makes its answer void: %s",
    async (change) => {
      const { double, settle } = learning;
      const { say, answer, edit, erase } = learning.business(person);
      const id = await say("I moved to Paris");
      await answer("ok");
      let changed: Promise<unknown> = Promise.resolve();
      double.behaviour = () => {
        if (calls() > 1) return { facts: [GOOD] };
        changed =
          change === "a deletion"
            ? erase(id)
            : edit(id, change === "an edit" ? "I moved to Lyon" : "I moved #noremember");
        return { facts: [draftOf("home.city", "Paris")] };
      };
      learning.double.delayed = () => changed;
      await settle();
      learning.double.delayed = undefined;
      await learning.later(1_000);
      expect(await values()).toEqual(change === "an edit" ? ["Lyon"] : []);
      expect(await turn()).toMatchObject({
        state: change === "an edit" ? "extracted" : "skipped",
      });
    },
  );

  test("erasing a message erases what was learned from it, and not what another message says", async () => {
    const { double, settle } = learning;
    const { say, answer, erase } = learning.business(person);
    const id = await say("I moved to Lyon");
    await say("I like tea");
    await answer("ok");
    double.next({ facts: [GOOD, draftOf("likes.tea", true, { from: 2 })] });
    await settle();
    await erase(id);
    expect(await values()).toEqual([true]);
  });
});
