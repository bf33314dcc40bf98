import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Evidence, foundBy, type Place, rank } from "../../src/recall/fusion.ts";
import { placesOf } from "../../src/recall/sessions.ts";

type Words = Partial<Record<"own" | "context" | "related", number>>;

/** What words scored, of 10 at most, and cosines. */
const evidence = (
  words: Readonly<Record<string, Words>>,
  cosines?: Readonly<Record<string, number>>,
  common: Readonly<Record<string, number>> = {},
): Evidence => ({
  matches: {
    hits: Object.entries(words).map(([documentId, score]) => ({
      documentId,
      own: 0,
      context: 0,
      related: 0,
      ...score,
    })),
    attainable: { own: 10, context: 10 },
    terms: [],
  },
  vectors:
    cosines &&
    Object.entries(cosines).map(([documentId, cosine]) => ({
      documentId,
      cosine,
      ...(documentId in common && { common: common[documentId] }),
    })),
  floor: 0.3,
});
/** Each alone in a session of its own. */
const apart = (...ids: readonly string[]): Place[] =>
  ids.map((documentId) => ({
    documentId,
    session: documentId,
    neighbours: [],
    isAssistant: false,
  }));
const order = (given: Evidence, places: readonly Place[]) =>
  rank(given, places).map(({ documentId }) => documentId);

describe("words and meaning together", () => {
  test("where words say much they decide, and where they say little the meaning does", () => {
    const much = evidence({ words: { own: 8, context: 8 } }, { meaning: 0.6, words: 0.2 });
    expect(order(much, apart("words", "meaning"))).toEqual(["words", "meaning"]);
    const little = evidence({ words: { own: 1, context: 1 } }, { meaning: 0.6, words: 0.2 });
    expect(order(little, apart("words", "meaning"))).toEqual(["meaning", "words"]);
  });

  test("a hit says what share of the query's words it has, and its cosine where it has one", () => {
    const given = evidence({ a: { own: 5, context: 8 }, b: { own: 2.5 } }, { a: 0.4 });
    expect(rank(given, apart("a", "b"))).toMatchObject([
      { documentId: "a", words: 0.5, cosine: 0.4 },
      { documentId: "b", words: 0.25, cosine: null },
    ]);
  });

  test("a related word is worth less than the word itself, and more than nothing", () => {
    const given = evidence({
      word: { own: 5, context: 5 },
      near: { related: 2 },
      none: { own: 1 },
    });
    expect(order(given, apart("none", "near", "word"))).toEqual(["word", "near", "none"]);
  });

  describe("what resembles everything else that was found", () => {
    const cosines = (others: number) => ({
      greeting: 0.5,
      answer: 0.48,
      ...Object.fromEntries(Array.from({ length: others }, (_, n) => [`other${n}`, 0.3])),
    });
    const common = (others: number) => ({
      ...Object.fromEntries(Object.keys(cosines(others)).map((id) => [id, 0.3])),
      greeting: 0.5,
      answer: 0.2,
    });
    const first = (given: Evidence, others: number) =>
      order(given, apart(...Object.keys(cosines(others))))[0];

    test("comes after what answers as nearly and resembles little else", () => {
      expect(first(evidence({}, cosines(120), common(120)), 120)).toBe("answer");
    });

    test("keeps its place where too few were found to tell, or the index cannot tell", () => {
      expect(first(evidence({}, cosines(8), common(8)), 8)).toBe("greeting");
      expect(first(evidence({}, cosines(120)), 120)).toBe("greeting");
    });

    test("is still told with the cosine that it has", () => {
      const hits = rank(evidence({}, cosines(120), common(120)), apart("greeting"));
      expect(hits).toMatchObject([{ documentId: "greeting", cosine: 0.5 }]);
    });

    test("is no worse for being like the others in what the query is about", () => {
      const same = (cosine: number) =>
        Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`d${n}`, cosine]));
      const [hit] = rank(evidence({}, same(0.5), same(0.25)), apart("d0"));
      const [alone] = rank(evidence({}, { d0: 0.5 }), apart("d0"));
      expect(hit?.match).toBeCloseTo(alone?.match ?? 0, 6);
    });
  });

  test("of two sessions with an equal hit the one that has more to say comes first", () => {
    const given = evidence({ a1: { own: 6 }, a2: { own: 1 }, b1: { own: 6 }, b2: { own: 5 } });
    const places = apart("a1", "a2", "b1", "b2").map((place) => ({
      ...place,
      session: place.documentId[0] ?? "",
    }));
    expect(order(given, places)).toEqual(["b1", "a1", "b2", "a2"]);
  });

  test("what an assistant said weighs less than what the person said", () => {
    const [first, second] = apart("assistant", "person");
    const places = [{ ...first, isAssistant: true } as Place, second as Place];
    const given = evidence({ assistant: { own: 6, context: 6 }, person: { own: 4, context: 4 } });
    expect(order(given, places)).toEqual(["person", "assistant"]);
  });

  test("nothing is found for a cosine below the model's floor alone", () => {
    const given = evidence({ words: { own: 1 } }, { words: 0.1, near: 0.31, far: 0.29 });
    expect(foundBy(given)).toEqual(["words", "near"]);
  });

  test("what stands beside a better hit, or in the same session, comes before its like", () => {
    const given = evidence({
      hit: { own: 9 },
      beside: { own: 2 },
      session: { own: 2 },
      elsewhere: { own: 2.1 },
    });
    const at = (documentId: string, session: string, neighbours: string[] = []): Place => ({
      documentId,
      session,
      neighbours,
      isAssistant: false,
    });
    const places = [
      at("elsewhere", "b"),
      at("session", "a"),
      at("beside", "a", ["hit"]),
      at("hit", "a", ["beside"]),
    ];
    expect(order(given, places)).toEqual(["hit", "beside", "session", "elsewhere"]);
  });

  test("the order does not depend on the order in which things were found", () => {
    const score = fc.record({ own: fc.nat(10), context: fc.nat(10), related: fc.nat(3) });
    const ids = fc.uniqueArray(fc.constantFrom(..."abcdefgh"), { minLength: 1 });
    fc.assert(
      fc.property(
        ids.chain((some) =>
          fc.tuple(
            fc.constant(some),
            fc.tuple(...some.map(() => score)),
            fc.shuffledSubarray(some, { minLength: some.length }),
          ),
        ),
        ([some, scores, shuffled]) => {
          const words = (names: readonly string[]) =>
            Object.fromEntries(names.map((name) => [name, scores[some.indexOf(name)] as Words]));
          const places = (names: readonly string[]) =>
            placesOf(
              names.map((documentId) => ({
                documentId,
                conversation: "c",
                at: new Date(some.indexOf(documentId) * 3_600_000),
                isAssistant: false,
              })),
            );
          expect(rank(evidence(words(shuffled)), places(shuffled))).toEqual(
            rank(evidence(words(some)), places(some)),
          );
        },
      ),
    );
  });
});

describe("sessions", () => {
  const said = (documentId: string, hours: number, over: object = {}) => ({
    documentId,
    conversation: "chat",
    at: new Date(hours * 3_600_000),
    isAssistant: false,
    ...over,
  });

  test("end after six hours of silence, and with the conversation", () => {
    const places = placesOf([
      said("a", 0),
      said("b", 6),
      said("c", 12.1),
      said("d", 0, { conversation: "other" }),
    ]);
    const session = new Map(places.map((place) => [place.documentId, place.session]));
    expect(session.get("a")).toBe(session.get("b"));
    expect(new Set(session.values()).size).toBe(3);
  });

  test("know neighbours by what was said before, where that is known, else by time", () => {
    const byTime = placesOf([said("a", 0), said("b", 1), said("c", 20)]);
    expect(byTime.map(({ neighbours }) => neighbours)).toEqual([["b"], ["a"], []]);
    const known = placesOf([
      said("a", 0, { previous: null }),
      said("c", 2, { previous: "b" }),
      said("d", 3, { previous: "c" }),
    ]);
    expect(known.map(({ neighbours }) => neighbours)).toEqual([[], ["b", "d"], ["c"]]);
  });
});
