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
  /** One turn of the person, and what the provider does with it now. */
  const learn = async (behaviour: Behaviour, text = "I moved to Lyon") => {
    learning.double.next(behaviour);
    const turn = await learning.turn(person, text);
    await learning.settle();
    return turn;
  };
  const turn = async () => (await learning.turnsOf(person))[0];

  test("a fact is stored with where it comes from, and the turn with what it cost", async () => {
    const archived = await learn({ facts: [GOOD], inputTokens: 612, outputTokens: 48 });
    expect(await learning.factsOf(person)).toMatchObject([
      {
        key: "home.city",
        value: "Lyon",
        confidence: 0.8,
        tier: "preference",
        agentId: "atlas",
        sourceMessageId: archived.userMessageId,
        sourceReason: null,
        observedAt: learning.clock.now(),
      },
    ]);
    expect(await turn()).toMatchObject({
      state: "extracted",
      reason: null,
      model: "claude-haiku-5-5",
      inputTokens: 612,
      outputTokens: 48,
      factCount: 1,
      dropped: {},
    });
  });

  test("each fact names the message that states it, and observed it then", async () => {
    const { say, answer, clock, double, settle } = learning;
    await say(person, "I moved to Lyon");
    clock.advance(MINUTE);
    await say(person, "and I like tea");
    await answer(person, "ok");
    double.next({ facts: [draftOf("likes.tea", true, { from: 2 }), draftOf("home.city", "Lyon")] });
    await settle();
    const [first, second] = await learning.messagesOf(person);
    expect(await learning.factsOf(person)).toMatchObject([
      { key: "home.city", sourceMessageId: first?.id, observedAt: first?.sentAt },
      { key: "likes.tea", sourceMessageId: second?.id, observedAt: second?.sentAt },
    ]);
  });

  test("logs hold nothing of what was said or learned, and no key", async () => {
    await learn({ facts: [draftOf("home.city", "Xanadu")] }, "I moved to Xanadu");
    await learn({ text: "Xanadu it is" }, "I moved to Xanadu again");
    await learning.later(MINUTE);
    const said = learning.lines.join("\n");
    expect(said).toContain("turns.extract");
    expect(said).not.toMatch(/Xanadu|home\.city/i);
    expect(said).not.toContain(learning.double.key);
  });
});
