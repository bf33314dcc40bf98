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
])("facts %s are read (B111)", (_, text) => {
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
])("%j (%s) is %s, never nothing to learn (B115)", (text, stopReason, code) => {
  expect(faultOf(text, stopReason)).toBe(code);
});

test("two objects that differ are no answer", () => {
  expect(faultOf(`Draft: ${FACTS} Final: {"facts":[]}`)).toBe("unreadable");
});

test("a model that runs in circles is given up", () => {
  expect(faultOf('{"facts":['.repeat(20_000))).toBe("unreadable");
  expect(faultOf("{".repeat(1_000_000))).toBe("unreadable");
});
