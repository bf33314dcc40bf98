import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { type IndexUnderTest, openIndex } from "./index-under-test.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

onBothDatabases((engine) => {
  let opened: Awaited<ReturnType<typeof openIndex>>;
  let s: IndexUnderTest;

  beforeAll(async () => {
    opened = await openIndex(engine);
  });
  beforeEach(async () => {
    s = await opened.fresh();
  });
  afterAll(() => opened.close());

  const anyText = fc.constantFrom(
    "green tea",
    "Green tea.",
    "le thé vert",
    "我喝绿茶",
    "no coffee, 100%",
    "keep this out #noremember",
  );
  const anyFact = fc.record({
    what: fc.constant("fact" as const),
    key: fc.constantFrom("likes.tea", "home"),
    value: anyText,
    tags: fc.constantFrom([], ["drinks"]),
    ttlDays: fc.constantFrom(undefined, 3),
  });
  const anyDecision = fc.record({
    what: fc.constantFrom(
      "archive" as const,
      "restore" as const,
      "forget" as const,
      "change" as const,
    ),
    which: fc.nat(5),
    value: anyText,
  });
  const anyMessage = fc.record({
    what: fc.constantFrom("message" as const, "edit" as const, "delete" as const),
    id: fc.constantFrom("m1", "m2", "m3", "m4"),
    text: fc.oneof(anyText, fc.constant(null)),
    direction: fc.constantFrom("inbound" as const, "outbound" as const),
    late: fc.boolean(),
  });
  const anyStep = fc.oneof(
    anyFact,
    anyDecision,
    anyMessage,
    fc.record({ what: fc.constant("time" as const), hours: fc.constantFrom(1, 5, 30) }),
    fc.constant({ what: "consolidate" as const }),
  );
  type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

  async function take(of: IndexUnderTest, step: Step): Promise<void> {
    switch (step.what) {
      case "fact": {
        const { what: _, ...said } = step;
        await of.remember(said);
        return;
      }
      case "archive":
      case "restore":
      case "forget":
      case "change": {
        const rows = await of.query<{ id: string }>("select id from user_facts order by id");
        const id = rows[step.which % Math.max(1, rows.length)]?.id;
        if (id === undefined) return;
        // What may not be done now (a merged row, the same value) changes nothing.
        const done =
          step.what === "forget"
            ? of.facts.forget(of.owner, id, "asked")
            : step.what === "change"
              ? of.review.edit(of.owner, id, step.value, null)
              : of.review.decide(of.owner, id, step.what, null);
        await Promise.resolve(done).catch(() => {});
        return;
      }
      case "message":
      case "edit": {
        const { direction, text } = step;
        const sentAt = new Date(of.clock.now().getTime() - (step.late ? HOUR : 0));
        const edited = step.what === "edit" ? { editedAt: of.clock.now() } : {};
        await of.deliver(of.message(step.id, text, { direction, sentAt, ...edited }));
        return;
      }
      case "delete":
        await of.deliver({ type: "deleted", platformMessageIds: [step.id] });
        return;
      case "time":
        of.clock.advance(step.hours * HOUR);
        return;
      case "consolidate":
        await of.consolidation.run();
    }
  }

  test("whatever happened to facts and messages, the index is the one that would be made anew", {
    timeout: 180_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 8, maxLength: 25 }), async (life) => {
        const of = await opened.fresh();
        for (const step of life) {
          await take(of, step);
          of.clock.advance(1000);
        }
        await of.consolidation.run();
        await of.runJob();
        const kept = await of.dump();
        await of.rebuild();
        expect(kept).toEqual(await of.dump());
      }),
      { numRuns: 12 },
    );
  });

  test("twenty writers of one scope at once all get through, and its totals are right", async () => {
    await s.remember({ key: "first", value: "tea" });
    await s.say("hello", "good day");
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? s.remember({ key: `k${n % 6}`, value: `tea ${n}` })
          : s.say(`tea ${n}`, "yes"),
      ),
    );
    const kept = await s.dump();
    expect(kept.documents).toHaveLength(1 + 2 + 10 + 20);
    await s.rebuild();
    expect(kept).toEqual(await s.dump());
  });

  test("a fact that expired and a person who is erased leave no word behind", async () => {
    await s.remember({ key: "a", value: "lemon", ttlDays: 1 });
    await s.remember({ key: "b", value: "mint" });
    await s.say("lemon and mint", "both");
    s.clock.advance(2 * DAY);
    await s.consolidation.run();
    expect((await s.find("lemon")).facts).toEqual([]);
    await s.query("delete from users");
    const left = await s.dump();
    expect({ ...left, scopes: [] }).toEqual({ scopes: [], documents: [], words: [], due: [] });
  });

  test("a reply is searched with the message before it, until that one is deleted", async () => {
    await s.deliver(s.message("m1", "Which tea do you like?"));
    s.clock.advance(1000);
    await s.deliver(s.message("m2", "Sencha", { direction: "outbound" }));
    const [reply] = await s.query<{ id: string }>(
      "select id from chat_messages where platform_message_id = 'm2'",
    );
    expect((await s.find("tea")).messages).toHaveLength(2);
    await s.deliver({ type: "deleted", platformMessageIds: ["m1"] });
    expect((await s.find("tea")).messages).toEqual([]);
    expect((await s.find("sencha")).messages).toEqual([reply?.id]);
    expect(await s.runJob()).toEqual({ indexed: 0, failed: 0 });
  });

  test("a message that went without the index being told takes its words along; what was searched with it comes back", async () => {
    await s.deliver(s.message("m1", "Which tea do you like?"));
    s.clock.advance(1000);
    await s.deliver(s.message("m2", "Sencha", { direction: "outbound" }));
    await s.query("delete from chat_messages where platform_message_id = 'm1'");
    expect((await s.find("tea")).messages).toEqual([]);
    expect(await s.runJob()).toEqual({ indexed: 1, failed: 0 });
    expect((await s.find("sencha")).messages).toHaveLength(1);
  });

  test("a message that arrives late, and the edit of one, change what the next is searched with", async () => {
    const at = (seconds: number) => ({
      sentAt: new Date(s.clock.now().getTime() + seconds * 1000),
    });
    await s.deliver(s.message("m1", "Which tea?", at(0)));
    await s.deliver(s.message("m3", "Sencha", { direction: "outbound", ...at(20) }));
    await s.deliver(s.message("m2", "Or a book?", at(10)));
    const idOf = async (name: string) =>
      (
        await s.query<{ id: string }>(
          `select id from chat_messages where platform_message_id = '${name}'`,
        )
      )[0]?.id;
    const [m1, m2, m3] = [await idOf("m1"), await idOf("m2"), await idOf("m3")];
    expect((await s.find("book")).messages).toEqual([m2, m3]);
    expect((await s.find("tea")).messages).toEqual([m1, m2]);
    await s.deliver(s.message("m2", "Or a bicycle?", { ...at(10), editedAt: s.clock.now() }));
    expect((await s.find("bicycle")).messages).toEqual([m2, m3]);
    expect((await s.find("book")).messages).toEqual([]);
  });

  test("what a person keeps out is not found, nor together with what follows", async () => {
    await s.say("my pin code hint is marigold #noremember", "I will not keep marigold.");
    await s.say("and now tea", "fine");
    expect((await s.find("marigold")).messages).toEqual([]);
    expect((await s.find("tea")).messages).toHaveLength(2);
  });
});
