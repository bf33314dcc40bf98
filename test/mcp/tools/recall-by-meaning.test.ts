import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";

/** With the model that comes along, which one database is enough for. */
const clock = new TestClock();
let app: TestApp;
beforeAll(async () => {
  const env = { EMBEDDER: "local" };
  app = await openApp("embedded", { clock: clock.now, env, background: false });
});
afterAll(() => app.dispose());

const QUESTION = "Is there a food allergy?";

/** Lets what waits for a vector get one, and ends the pause that a search in vain for a model still loading begins. */
const embed = async () => {
  clock.advance(20_000);
  await app.jobs.runDue();
};
const factsOf = async (userId: string, query: string) => {
  const { facts } = await app.ok("recall", { userId, query });
  return (facts as { value: string }[]).map(({ value }) => value);
};
const messagesOf = async (userId: string, query: string) => {
  const { messages } = await app.ok("recall", { userId, query });
  return (messages as { text: string }[]).map(({ text }) => text);
};
const say = (userId: string, userMessage: string, assistantMessage: string) =>
  app.ok("archive_turn", { userId, channel: "web", userMessage, assistantMessage });

test("a fact is found by a question that shares no word with it, once it has its vector", async () => {
  const userId = "telegram:1";
  const value = "Peanuts make her throat swell";
  await app.ok("remember_fact", { scope: "user", userId, key: "health", value });
  expect(await factsOf(userId, QUESTION)).toEqual([]);
  await embed();
  expect(await factsOf(userId, QUESTION)).toEqual([value]);
});

test("a message is found by what it means after a search that looked for it in vain", async () => {
  const userId = "telegram:2";
  const text = "Peanuts make my throat swell";
  await say(userId, text, "Noted.");
  await embed();
  expect(await messagesOf(userId, QUESTION)).toEqual([]);
  await embed();
  expect(await messagesOf(userId, QUESTION)).toContain(text);
});

test("what ends with #noremember is not found by what it means either", async () => {
  const userId = "telegram:3";
  await say(userId, "Peanuts make my throat swell #noremember", "Noted.");
  await say(userId, "The train leaves at nine", "Have a good trip.");
  expect(await messagesOf(userId, QUESTION)).toEqual([]);
  await embed();
  expect((await messagesOf(userId, QUESTION)).join()).not.toContain("throat");
});
