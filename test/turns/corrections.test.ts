import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { draftOf, type Learning, MINUTE, openLearning } from "./learning.ts";

onBothDatabases((engine) => {
  let learning: Learning;
  let person = 5000;
  beforeAll(async () => {
    learning = await openLearning(engine);
  });
  afterAll(() => learning.close());
  beforeEach(async () => {
    await learning.fresh();
    person++;
  });
  const LYON = draftOf("home.city", "Lyon", { confidence: 0.6 });
  const isCorrection = async () => (await learning.turnsOf(person))[0]?.isCorrection;

  test("what corrects the assistant is nearly certain, and says so", async () => {
    const { say, answer, clock, double, settle, factsOf } = learning;
    await say(person, "Where do I live?");
    await answer(person, "You live in Paris.");
    clock.advance(20_000);
    await say(person, "Non, à Lyon");
    await answer(person, "Noted: Lyon.");
    double.next({ facts: [] }, { facts: [LYON] });
    await settle();
    expect(await isCorrection()).toBe(true);
    expect(await factsOf(person)).toMatchObject([
      { value: "Lyon", confidence: 0.9, sourceReason: "user-correction" },
    ]);
    const asked = double.received.at(-1)?.body.messages[0]?.content;
    expect(asked).toContain('"n":0,"by":"assistant"');
    expect(asked).toContain("You live in Paris.");
  });

  test.each([
    [59, true],
    [60, true],
    [61, false],
  ])("%i seconds after the answer it is one: %s", async (seconds, expected) => {
    const { say, answer, clock } = learning;
    await say(person, "Where do I live?");
    await answer(person, "You live in Paris.");
    clock.advance(seconds * 1000);
    await say(person, "No, in Lyon");
    expect(await isCorrection()).toBe(expected);
  });

  test.each([
    ["No problem!", {}],
    ["Lyon", {}],
    ["No, in Lyon", { forward_origin: { type: "hidden_user", sender_user_name: "X", date: 1 } }],
  ])("%j (%j) corrects nothing", async (text, fields) => {
    await learning.say(person, "Where do I live?");
    await learning.answer(person, "You live in Paris.");
    await learning.say(person, text, fields);
    expect(await isCorrection()).toBe(false);
  });

  test("without an answer before there is nothing to correct", async () => {
    await learning.say(person, "No, in Lyon");
    expect(await isCorrection()).toBe(false);
    await learning.turn(person, "No, in Lyon");
    expect(await isCorrection()).toBe(false);
  });

  test("over archive_turn the turn before in that conversation counts", async () => {
    await learning.turn(person, "Where do I live?", { assistantMessage: "You live in Paris." });
    learning.clock.advance(30_000);
    await learning.turn(person, "No, in Lyon", { conversationId: "another" });
    expect(await isCorrection()).toBe(false);
    await learning.turn(person, "No, in Lyon");
    expect(await isCorrection()).toBe(true);
    learning.double.behaviour = { facts: [LYON] };
    await learning.settle();
    const asked = learning.double.received.map(({ body }) => body.messages[0]?.content ?? "");
    expect(asked.filter((data) => data.includes('"n":0') && data.includes("Paris"))).toHaveLength(
      1,
    );
  });

  test("an answer that is opted out does not go out with its correction", async () => {
    await learning.turn(person, "Where do I live? #noremember", { assistantMessage: "In Paris." });
    await learning.turn(person, "No, in Lyon");
    await learning.settle();
    expect(await isCorrection()).toBe(true);
    expect(learning.double.received).toHaveLength(1);
    expect(JSON.stringify(learning.double.received)).not.toContain("Paris");
  });

  describe("without an extractor", () => {
    let bare: Learning;
    beforeAll(async () => {
      bare = await openLearning(engine, { bare: true });
    });
    afterAll(() => bare.close());

    test("the server says so once, and everything else works", async () => {
      const said = bare.lines.filter((line) => line.includes("ANTHROPIC_API_KEY"));
      expect(said).toHaveLength(1);
      await bare.turn(person, "I like tea");
      await bare.say(person, "I like jazz");
      await bare.later(11 * MINUTE);
      const off = { state: "skipped", reason: "extraction-off" };
      expect(await bare.turnsOf(person)).toMatchObject([off, off]);
      expect((await bare.extractJobs()).map(({ state }) => state)).toEqual(["done", "done"]);
      expect(await bare.usage()).toEqual([]);
    });

    test("corrections wait for a person, with what was said, until they are laid aside", async () => {
      await bare.turn(person, "Where do I live?", { assistantMessage: "You live in Paris." });
      await bare.turn(person, "No, in Lyon", { assistantMessage: "Sorry, Lyon." });
      await bare.settle();
      const { body } = await bare.app.v1("GET", "/v1/corrections");
      expect(body.corrections).toMatchObject([
        {
          turn: { state: "closed", reason: "extraction-off", userId: await bare.userId(person) },
          corrects: "You live in Paris.",
          messages: [
            { direction: "inbound", text: "No, in Lyon" },
            { direction: "outbound", text: "Sorry, Lyon." },
          ],
        },
      ]);
      const [{ turn }] = body.corrections as [{ turn: { id: string } }];
      const retried = await bare.app.v1("POST", `/v1/turns/${turn.id}/retry`);
      expect(retried).toMatchObject({
        status: 409,
        body: { hint: "Set ANTHROPIC_API_KEY and restart." },
      });
      expect((await bare.app.v1("DELETE", `/v1/corrections/${turn.id}`)).status).toBe(204);
      expect((await bare.app.v1("DELETE", `/v1/corrections/${turn.id}`)).status).toBe(404);
      expect((await bare.app.v1("GET", "/v1/corrections")).body).toEqual({ corrections: [] });
      expect((await bare.turnsOf(person))[0]).toMatchObject({
        state: "skipped",
        reason: "dismissed",
      });
    });
  });
});
