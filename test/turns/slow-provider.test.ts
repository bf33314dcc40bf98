import { afterAll, beforeAll, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, type Learning, openLearning } from "./learning.ts";

onBothDatabases((engine) => {
  let learning: Learning;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());

  test("while the provider does not answer, messages are archived at once, and each turn is learned from once, later", async () => {
    const person = 7000;
    const answered = Promise.withResolvers<void>();
    learning.double.delayed = () => answered.promise;
    learning.double.next({ facts: [draftOf("home.city", "Lyon")] });
    await learning.say(person, "I moved to Lyon");
    await learning.answer(person, "Noted.");
    const running = learning.settle();
    await expect.poll(() => learning.double.received.length).toBe(1);

    await learning.say(person + 1, "slow?");
    expect((await learning.messagesOf(person + 1)).map(({ text }) => text)).toEqual(["slow?"]);
    expect(await learning.factsOf(person)).toEqual([]);

    answered.resolve();
    await running;
    expect((await learning.factsOf(person)).map(({ value }) => value)).toEqual(["Lyon"]);
    expect(await learning.turnsOf(person)).toMatchObject([{ state: "extracted", factCount: 1 }]);
  });
});
