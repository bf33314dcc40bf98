import { expect, test } from "vitest";
import { readAnswer } from "../../src/turns/answer.ts";

const read = (text: string, stopReason = "end_turn") =>
  readAnswer({ text, stopReason, inputTokens: 1, outputTokens: 1 });
const faultOf = (text: string, stopReason?: string) => {
  try {
    return read(text, stopReason);
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const FACTS = '{"facts":[{"key":"pet","value":"a } or { or \\" in a string","confidence":0.9}]}';
const PET = [{ key: "pet", value: 'a } or { or " in a string', confidence: 0.9 }];

test.each([
  ["plain", FACTS],
  ["with space around", `\n ${FACTS}\n`],
  ["in a fence", `\`\`\`json\n${FACTS}\n\`\`\``],
  ["in a fence without a language", `\`\`\`\n${FACTS}\n\`\`\``],
  ["in prose and a fence", `Here are the facts:\n\`\`\`json\n${FACTS}\n\`\`\`\nHope it helps`],
  ["in prose", `Here are the facts: ${FACTS} Hope it helps {really}`],
  ["after a stray brace", `The set {a, b} gives ${FACTS}`],
  ["twice the same", `${FACTS}\n\nAgain: ${FACTS}`],
  ["inside another object", `{"result": ${FACTS}}`],
  ["with spaces in its head", `Sure: { "facts" : [${FACTS.slice(10, -2)}] }`],
])("facts %s are read", (_, text) => {
  expect(read(text)).toEqual(PET);
});

test("nothing to learn is an answer", () => {
  expect(read('{"facts":[]}')).toEqual([]);
});

test.each([
  ["", "end_turn", "unreadable"],
  ["I cannot help with that", "end_turn", "unreadable"],
  ['{"facts":[{', "end_turn", "unreadable"],
  ['{"facts":{}}', "end_turn", "unreadable"],
  ["[]", "end_turn", "unreadable"],
  ["null", "end_turn", "unreadable"],
  ['{"fact":[]}', "end_turn", "unreadable"],
  ["", "refusal", "refused"],
  ['{"facts":[]}', "refusal", "refused"],
  ['{"facts":[{', "max_tokens", "truncated"],
  ['{"facts":[]}', "max_tokens", "truncated"],
  ['{"facts":[]}', "model_context_window_exceeded", "truncated"],
])("%j (%s) is %s, never nothing to learn", (text, stopReason, code) => {
  expect(faultOf(text, stopReason)).toBe(code);
});

test("two objects that differ are no answer", () => {
  expect(faultOf(`Draft: ${FACTS} Final: {"facts":[]}`)).toBe("unreadable");
});

test("a model that runs in circles is given up", () => {
  expect(faultOf('{"facts":['.repeat(20_000))).toBe("unreadable");
  expect(faultOf("{".repeat(1_000_000))).toBe("unreadable");
});

test.each([
  "123456789012345678901",
  "9007199254740993",
  "1e400",
  "1e-400",
  "-0",
  "0.12345678901234567890",
])("a number that JavaScript would change, %s, costs its draft and no other", (number) => {
  const facts = read(
    `{"facts":[{"key":"a","value":{"n":[${number}]},"confidence":0.9},{"key":"b","value":"${number}","confidence":0.9}]}`,
  );
  expect(facts).toEqual([
    { key: "a", value: { n: ["\0"] }, confidence: 0.9 },
    { key: "b", value: number, confidence: 0.9 },
  ]);
});

test.each(["0", "-1.50", "9007199254740991", "0.1", "1e3", "0.8500000000000001", "0.000001"])(
  "%s stays a number",
  (number) => {
    expect(read(`{"facts":[{"value":${number}}]}`)).toEqual([{ value: Number(number) }]);
  },
);

test("a value of 100,000 levels costs its draft and no other", () => {
  const deep = `${"[".repeat(100_000)}1${"]".repeat(100_000)}`;
  expect(read(`{"facts":[{"value":${deep}},{"value":1e400}]}`)[1]).toEqual({ value: "\0" });
  expect(read(`Here you are: {"facts":[{"value":${deep}},{"key":"kept"}]}`)[1]).toEqual({
    key: "kept",
  });
});
