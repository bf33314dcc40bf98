import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, type Learning, MINUTE, openLearning } from "./learning.ts";

onBothDatabases((engine) => {
  let learning: Learning;
  let person = 1000;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());
  beforeEach(async () => {
    await learning.fresh();
    person++;
  });
  /** What the double was asked about, turn by turn. */
  const asked = () => learning.double.received.map(({ body }) => body.messages[0]?.content ?? "");

  test("what a person says until the answer is one turn, extracted as it closes", async () => {
    const { say, answer, clock, settle, turnsOf, messagesOf } = learning;
    await say(person, "Hello");
    clock.advance(MINUTE);
    await say(person, "I moved to Lyon");
    await settle();
    expect(asked()).toEqual([]);
    expect(await turnsOf(person)).toMatchObject([
      { state: "open", agentId: "atlas", channel: "telegram" },
    ]);
    await answer(person, "Welcome!");
    await settle();
    const [turn] = await turnsOf(person);
    expect(turn).toMatchObject({ state: "extracted", arm: "on", factCount: 0 });
    expect((await messagesOf(person)).map(({ turnId }) => turnId)).toEqual([
      turn?.id,
      turn?.id,
      turn?.id,
    ]);
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).toMatch(/Hello[\s\S]*Lyon[\s\S]*Welcome/);
    await say(person, "Thanks");
    expect(await turnsOf(person)).toMatchObject([{ state: "open" }, { state: "extracted" }]);
  });

  test("unanswered for ten minutes a turn closes alone", async () => {
    const { say, later, turnsOf } = learning;
    await say(person, "Anybody there?");
    await later(6 * MINUTE);
    await say(person, "I like tea");
    await later(9 * MINUTE);
    expect(await turnsOf(person)).toMatchObject([{ state: "open" }]);
    await later(MINUTE);
    expect(await turnsOf(person)).toMatchObject([{ state: "extracted" }]);
    expect(asked()).toHaveLength(1);
  });

  test("a message after a longer silence begins another turn, whether or not a job ran meanwhile", async () => {
    const { say, clock, turnsOf, settle } = learning;
    await say(person, "I like tea");
    clock.advance(10 * MINUTE + 1000);
    await say(person, "I like jazz");
    expect(await turnsOf(person)).toMatchObject([{ state: "open" }, { state: "closed" }]);
    await settle();
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).not.toContain("jazz");
  });

  test("conversations, channels and people do not share turns", async () => {
    const { say, turn, turnsOf, settle, answer } = learning;
    const group = { chat: { id: -person, type: "supergroup", title: "Group" } };
    await say(person, "in private");
    await say(person, "in a group", group);
    await say(person + 500, "somebody else in the group", group);
    await turn(person, "on the web");
    expect((await turnsOf(person)).map(({ state }) => state).sort()).toEqual([
      "closed",
      "open",
      "open",
    ]);
    await answer(person, "Yes?");
    await settle();
    expect(asked().filter((data) => data.includes("in private"))).toHaveLength(1);
    expect(asked().join()).not.toContain("group");
  });

  test("of a monologue the newest ten messages count, and the rest is counted as left out", async () => {
    const { say, answer, settle, turnsOf } = learning;
    for (let n = 1; n <= 12; n++) await say(person, `message ${n} of a monologue`);
    await answer(person, "Noted");
    await settle();
    expect(asked()[0]?.match(/of a monologue/g)).toHaveLength(10);
    expect(asked()[0]).not.toContain("message 2 of");
    expect(await turnsOf(person)).toMatchObject([{ dropped: { "messages-left-out": 2 } }]);
  });

  test("a turn of archive_turn closes at once, for the agent that archived it, with its feedback", async () => {
    const feedback = { thumb: "down", regenerated: true };
    await learning.turn(person, "I like tea", { agentId: "maya", feedback });
    expect(await learning.turnsOf(person)).toMatchObject([
      { state: "closed", agentId: "maya", channel: "web", thumb: "down", regenerated: true },
    ]);
    learning.double.next({ facts: [draftOf("likes.tea", true)] });
    await learning.settle();
    expect(await learning.factsOf(person)).toMatchObject([{ agentId: "maya", key: "likes.tea" }]);
  });

  test("a turn that is archived twice under one idempotencyKey is one turn", async () => {
    const once = { idempotencyKey: `turn-${person}` };
    expect(await learning.turn(person, "I like tea", once)).toEqual(
      await learning.turn(person, "I like tea", once),
    );
    expect(await learning.turnsOf(person)).toHaveLength(1);
  });

  test("a redelivery, and the same message under another delivery's id, add nothing", async () => {
    const { say, answer, turnsOf, settle } = learning;
    const id = await say(person, "I like tea");
    await answer(person, "Noted");
    await settle();
    await say(person, "I like tea", { message_id: id });
    expect(await turnsOf(person)).toHaveLength(1);
  });

  test("two messages at the same moment share a turn", async () => {
    const { say, turnsOf } = learning;
    await Promise.all([1, 2, 3, 4].map((n) => say(person, `at once ${n}`)));
    expect(await turnsOf(person)).toHaveLength(1);
    expect(new Set((await learning.messagesOf(person)).map(({ turnId }) => turnId)).size).toBe(1);
  });

  test("an answer that was sent before the person wrote closes nothing", async () => {
    const { answer, say, turnsOf, clock } = learning;
    await say(person, "first");
    await answer(person, "yes?");
    clock.advance(5_000);
    await say(person, "second");
    clock.advance(-4_000);
    await answer(person, "late");
    clock.advance(4_000);
    expect(await turnsOf(person)).toMatchObject([{ state: "open" }, { state: "closed" }]);
  });

  describe("approval", () => {
    test("nothing of a person who is not approved becomes a turn, before or after", async () => {
      const { say, answer, set, settle, turnsOf, later } = learning;
      await say(person, "hello");
      await answer(person, "hi");
      await settle();
      learning.double.reset();
      await set(person, { status: "pending" });
      await say(person, "my secret before approval");
      await answer(person, "please wait");
      await learning.turn(person, "told over the web");
      expect(await turnsOf(person)).toHaveLength(1);
      await set(person, { status: "approved" });
      await say(person, "after approval");
      await answer(person, "welcome");
      await later(11 * MINUTE);
      expect(asked()).toHaveLength(1);
      expect(asked()[0]).toContain("after approval");
      expect(asked()[0]).not.toContain("secret");
    });

    test("nothing is learned from a turn of somebody who was blocked before it was read", async () => {
      const { say, answer, set, settle, turnsOf } = learning;
      await say(person, "I like tea");
      await answer(person, "ok");
      await set(person, { status: "blocked" });
      await settle();
      expect(asked()).toEqual([]);
      expect(await turnsOf(person)).toMatchObject([{ state: "skipped", reason: "not-approved" }]);
    });

    test("nobody in particular has no turn", async () => {
      const anonymous = {
        chat: { id: -person, type: "supergroup", title: "Group" },
        from: { id: 1087968824, is_bot: true, first_name: "Group" },
        sender_chat: { id: -person, type: "supergroup", title: "Group" },
      };
      await learning.say(person, "as the group", anonymous);
      await learning.later(11 * MINUTE);
      expect(asked()).toEqual([]);
    });
  });

  describe("#noremember", () => {
    test.each([0, 1, 2])(
      "in message %i of three takes the whole turn out, the answer too",
      async (n) => {
        const { say, answer, settle, turnsOf, messagesOf } = learning;
        for (const index of [0, 1, 2]) {
          await say(person, index === n ? "my plan is Rome #NoRemember!" : `words ${index}`);
        }
        await answer(person, "Rome, noted");
        await answer(person, "in two parts");
        await settle();
        expect(asked()).toEqual([]);
        expect(await turnsOf(person)).toMatchObject([{ state: "skipped", reason: "opted-out" }]);
        expect((await messagesOf(person)).map(({ optedOut }) => optedOut)).toEqual(
          Array(5).fill(true),
        );
        await say(person, "I like tea");
        await answer(person, "ok");
        await settle();
        expect((await messagesOf(person)).slice(5).map(({ optedOut }) => optedOut)).toEqual([
          false,
          false,
        ]);
        expect(asked()).toHaveLength(1);
      },
    );

    test("over archive_turn it does the same", async () => {
      await learning.turn(person, "my plan is Rome #noremember");
      await learning.settle();
      expect(asked()).toEqual([]);
      expect(await learning.turnsOf(person)).toMatchObject([
        { state: "skipped", reason: "opted-out" },
      ]);
      expect((await learning.messagesOf(person)).map(({ optedOut }) => optedOut)).toEqual([
        true,
        true,
      ]);
    });

    test("an answer that comes after the turn closed alone is out too", async () => {
      const { say, answer, later, messagesOf } = learning;
      await say(person, "my plan is Rome #noremember");
      await later(20 * MINUTE);
      await answer(person, "Rome, noted");
      expect((await messagesOf(person)).at(-1)?.optedOut).toBe(true);
    });

    test("added by an edit it erases what was learned from the turn, and a later edit does not bring it back", async () => {
      const { say, answer, edit, settle, turnsOf, messagesOf, factsOf } = learning;
      const id = await say(person, "my plan is Rome");
      await say(person, "and I like tea");
      await answer(person, "ok");
      learning.double.next({
        facts: [draftOf("plan.city", "Rome"), draftOf("likes.tea", true, { from: 2 })],
      });
      await settle();
      expect(await factsOf(person)).toHaveLength(2);
      await edit(person, id, "my plan is Rome #noremember");
      expect(await factsOf(person)).toEqual([]);
      expect((await messagesOf(person)).map(({ optedOut }) => optedOut)).toEqual([
        true,
        true,
        true,
      ]);
      await edit(person, id, "my plan is Rome");
      await settle();
      expect(asked()).toHaveLength(1);
      expect(await turnsOf(person)).toMatchObject([{ state: "skipped", reason: "opted-out" }]);
      expect((await messagesOf(person))[0]?.optedOut).toBe(true);
    });
  });

  describe("without memory", () => {
    test("turns of an org that switched it off are counted and skipped", async () => {
      await learning.setOrg({ memoryEnabled: false });
      await learning.turn(person, "I like tea");
      await learning.say(person, "I like jazz");
      await learning.answer(person, "ok");
      await learning.settle();
      await learning.setOrg({ memoryEnabled: true });
      expect(asked()).toEqual([]);
      const skipped = { state: "skipped", reason: "memory-off", arm: "off" };
      expect(await learning.turnsOf(person)).toMatchObject([skipped, skipped]);
    });

    test("what was queued when it was switched off is not read", async () => {
      await learning.turn(person, "I like tea");
      await learning.setOrg({ memoryOffShare: 1 });
      await learning.settle();
      await learning.setOrg({ memoryOffShare: 0 });
      expect(asked()).toEqual([]);
      expect(await learning.turnsOf(person)).toMatchObject([
        { state: "skipped", reason: "memory-off", arm: "on" },
      ]);
    });
  });

  test.each([
    [
      "a picture",
      { text: undefined, photo: [{ file_id: "f", file_unique_id: "u", width: 1, height: 1 }] },
    ],
    ["forwarded text", { forward_origin: { type: "hidden_user", sender_user_name: "X", date: 1 } }],
  ])("%s alone is not sent anywhere", async (_, fields) => {
    await learning.say(person, "I am vegan", fields);
    await learning.answer(person, "nice");
    await learning.settle();
    expect(asked()).toEqual([]);
    expect(await learning.turnsOf(person)).toMatchObject([
      { state: "skipped", reason: "nothing-said" },
    ]);
  });
});
