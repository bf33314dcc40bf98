import { expect, test } from "vitest";
import { checkDrafts, type DraftRules } from "../../src/turns/drafts.ts";
import type { TurnMessage } from "../../src/turns/turn.ts";

const messageOf = (id: string, changes: Partial<TurnMessage> = {}): TurnMessage => ({
  id,
  direction: "inbound",
  text: "said",
  forwarded: false,
  optedOut: false,
  identityId: null,
  sentAt: new Date(0),
  revision: 0,
  ...changes,
});
const TURN = {
  numbered: [
    messageOf("first"),
    messageOf("forwarded", { forwarded: true }),
    messageOf("last"),
    messageOf("answer", { direction: "outbound" }),
  ],
  fedBack: "",
  said: "said",
};
const CUSTOMER: DraftRules = { isOperator: false, hasStore: true, isCorrection: false };
const OPERATOR: DraftRules = { ...CUSTOMER, isOperator: true };
const GOOD = { key: "home.city", value: "Lyon", confidence: 0.9 };

const check = (drafts: readonly unknown[], rules = CUSTOMER, turn = TURN) =>
  checkDrafts(drafts, turn, rules);
/** Every draft that is kept, with the message it comes from. */
const keptOf = (...args: Parameters<typeof check>) =>
  check(...args).stated.flatMap(({ message, drafts }) =>
    drafts.map(({ scope, draft }) => ({ from: message.id, scope, ...draft })),
  );

test("a good draft is kept beside bad ones, which are counted by reason", () => {
  const { dropped, stated } = check([
    GOOD,
    { key: "Bad Key!", value: 1, confidence: 0.9 },
    { key: "a.b", value: 1, confidence: 7 },
  ]);
  expect(stated).toEqual([{ message: TURN.numbered[2], drafts: [{ scope: "user", draft: GOOD }] }]);
  expect(dropped).toEqual({ "invalid-key": 1, "invalid-confidence": 1 });
});

test.each<[string, unknown, string]>([
  ["no object", "home.city is Lyon", "invalid"],
  ["null", null, "invalid"],
  ["without a key", { ...GOOD, key: undefined }, "invalid-key"],
  ["a key of 81 characters", { ...GOOD, key: "k".repeat(81) }, "invalid-key"],
  ["a confidence in words", { ...GOOD, confidence: "high" }, "invalid-confidence"],
  ["a negative confidence", { ...GOOD, confidence: -1 }, "invalid-confidence"],
  ["below 0.4", { ...GOOD, confidence: 0.39 }, "low-confidence"],
  ["more than 4 KiB", { ...GOOD, value: "é".repeat(2_100) }, "too-large"],
  ["without a value", { ...GOOD, value: undefined }, "too-large"],
  ["an empty value", { ...GOOD, value: "" }, "invalid"],
  ["a value of null", { ...GOOD, value: null }, "invalid"],
  ["a tier that there is not", { ...GOOD, tier: "eternal" }, "invalid"],
  ["nine tags", { ...GOOD, tags: [..."abcdefghi"] }, "invalid"],
  ["long reasoning", { ...GOOD, reasoning: "r".repeat(241) }, "invalid"],
  ["a tier of watch facts elsewhere", { ...GOOD, tier: "watch" }, "watch"],
  [
    "a watch key that gets too long",
    { ...GOOD, key: `${"k".repeat(40)}.${"k".repeat(38)}`, tags: ["veille"] },
    "watch",
  ],
  ["U+0000 in the value", { ...GOOD, value: "a\0b" }, "invalid"],
  ["half a surrogate pair inside the value", { ...GOOD, value: { a: ["\ud800"] } }, "invalid"],
  ["U+0000 in a name inside the value", { ...GOOD, value: [{ "a\0": 1 }] }, "invalid"],
  ["U+0000 in a tag", { ...GOOD, tags: ["a\0b"] }, "invalid"],
  ["half a surrogate pair in the reasoning", { ...GOOD, reasoning: "\udc00" }, "invalid"],
  ["U+0000 in the key", { ...GOOD, key: "a\0b" }, "invalid-key"],
  ["a secret", { ...GOOD, key: "bank.card", value: "4111 1111 1111 1111" }, "secret"],
  ["a scope that there is not", { ...GOOD, scope: "tenant" }, "scope"],
  ["what a customer says of the org", { ...GOOD, scope: "org" }, "scope"],
  ["what a customer says of the store", { ...GOOD, scope: "store" }, "scope"],
  ["what was forwarded", { ...GOOD, from: 2 }, "source"],
  ["what the assistant said", { ...GOOD, from: 4 }, "source"],
])("%s is dropped", (_, draft, reason) => {
  expect(check([draft])).toEqual({ stated: [], dropped: { [reason]: 1 } });
});

test("somebody who works for the org states facts of it, and of the store that the chat is about", () => {
  const drafts = [
    { ...GOOD, scope: "org" },
    { ...GOOD, scope: "store" },
  ];
  expect(keptOf(drafts, OPERATOR).map(({ scope }) => scope)).toEqual(["org", "store"]);
  const elsewhere = check(drafts, { ...OPERATOR, hasStore: false });
  expect(elsewhere.dropped).toEqual({ scope: 1 });
  expect(elsewhere.stated).toHaveLength(1);
});

test("ids, agents and half-lives that a model thought of are not read", () => {
  const thought = {
    ...GOOD,
    scopeId: "victim",
    userId: "1",
    orgId: "victim",
    agentId: "maya",
    ttlDays: 1,
    pinned: true,
  };
  expect(keptOf([thought])).toEqual([{ from: "last", scope: "user", ...GOOD }]);
  expect(check([{ ...thought, scope: "org" }]).dropped).toEqual({ scope: 1 });
});

test("of 200 good drafts the first five are kept", () => {
  const drafts = Array.from({ length: 200 }, (_, n) => ({ ...GOOD, key: `likes.n${n}` }));
  const { stated, dropped } = check([{ ...GOOD, key: "B A D" }, ...drafts]);
  expect(stated[0]?.drafts.map(({ draft }) => draft.key)).toEqual(
    [0, 1, 2, 3, 4].map((n) => `likes.n${n}`),
  );
  expect(dropped).toEqual({ "invalid-key": 1, "too-many": 195 });
});

test("a value of a megabyte costs itself alone", () => {
  const { stated, dropped } = check([{ ...GOOD, value: "x".repeat(1_000_000) }, GOOD]);
  expect(stated).toHaveLength(1);
  expect(dropped).toEqual({ "too-large": 1 });
});

test("a second value under the same key is dropped, and one of another message is a statement of its own", () => {
  const paris = { ...GOOD, value: "Paris" };
  expect(check([GOOD, paris]).dropped).toEqual({ "duplicate-key": 1 });
  expect(
    keptOf([
      { ...GOOD, from: 3 },
      { ...paris, from: 1 },
    ]).map(({ from, value }) => [from, value]),
  ).toEqual([
    ["first", "Paris"],
    ["last", "Lyon"],
  ]);
});

test("a watch key and its tag complete each other, so that both spellings are one key", () => {
  const drafts = [
    { ...GOOD, key: "watch.acme.pricing", value: "49" },
    { ...GOOD, key: "acme.pricing", value: "59", tags: ["veille"] },
  ];
  expect(check(drafts).dropped).toEqual({ "duplicate-key": 1 });
});

test.each([undefined, null, 0, 99, -1, 1.5, "1", {}])(
  "a source of %j means the person's newest message",
  (from) => {
    expect(keptOf([{ ...GOOD, from }])).toMatchObject([{ from: "last" }]);
  },
);

test("a correction is certain, but not a guess", () => {
  const rules = { ...CUSTOMER, isCorrection: true };
  expect(keptOf([{ ...GOOD, confidence: 0.5 }], rules)).toMatchObject([{ confidence: 0.9 }]);
  expect(keptOf([{ ...GOOD, confidence: 0.95 }], rules)).toMatchObject([{ confidence: 0.95 }]);
  expect(check([{ ...GOOD, confidence: 0.2 }], rules).dropped).toEqual({ "low-confidence": 1 });
});

test("what stands in our own block and nowhere in the person's words is no news", () => {
  const turn = { ...TURN, fedBack: '- user diet: "Strictly vegan"', said: "I moved to Lyon" };
  const echo = { ...GOOD, key: "diet", value: "strictly vegan" };
  expect(check([echo, GOOD], CUSTOMER, turn)).toMatchObject({ dropped: { echo: 1 }, stated: [{}] });
  const said = { ...turn, said: "yes, I am strictly vegan" };
  expect(check([echo], CUSTOMER, said).dropped).toEqual({});
});

test("values keep their type, and null where something may be left out is left out", () => {
  const drafts = [
    { ...GOOD, key: "a.flag", value: false, tags: null, reasoning: null, tier: null },
    { ...GOOD, key: "a.number", value: 0 },
    { ...GOOD, key: "a.list", value: ["a", { b: null }] },
  ];
  expect(keptOf(drafts).map(({ value }) => value)).toEqual([false, 0, ["a", { b: null }]]);
});
