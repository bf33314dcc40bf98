import fc from "fast-check";
import { expect, test } from "vitest";
import { type Fault, MAX_DEPTH, scanJson } from "../src/json-scan.ts";

type Step = string | number;

/** Numbers that survive JavaScript and are written as it writes them. */
const numbers = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n) || Math.abs(n) >= 1e21);
const texts = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\u0000"));
const { tree: values } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(numbers, texts, fc.boolean(), fc.constant(null)),
    fc.array(tie("tree")),
    fc.dictionary(fc.oneof(texts, fc.nat().map(String), fc.constant("__proto__")), tie("tree")),
  ),
}));
const keys = fc.oneof(texts, fc.constantFrom("__proto__", "a.b", "constructor", 'q"\\'));
const paths = fc.array(fc.oneof(keys, fc.nat({ max: 3 })), { maxLength: 6 });

/** JSON text that holds `inner` at `path`, among neighbours. */
function textAt(path: readonly Step[], inner: string): string {
  return path.reduceRight<string>((text, step) => {
    if (typeof step === "number") return `[${'{"n":[1,2]},'.repeat(step)}${text} , "tail"]`;
    const before = step === "before" ? "beforehand" : "before";
    return `{ "${before}" : [null,{}] ,${JSON.stringify(step)}\t: ${text}\n}`;
  }, inner);
}

function expectFault(kind: Fault["kind"], inner: string, innerPath: readonly Step[] = []): void {
  fc.assert(
    fc.property(paths, (path) => {
      // A number-like key after another one is a fault of its own.
      fc.pre(!path.some((step) => typeof step === "string" && /^\d+$/.test(step)));
      expect(scanJson(textAt(path, inner))).toMatchObject([
        { kind, path: [...path, ...innerPath] },
      ]);
    }),
  );
}

test("nothing is reported for JSON that JavaScript keeps as it is", () => {
  fc.assert(
    fc.property(values, fc.nat({ max: 3 }), (value, indent) => {
      expect(scanJson(JSON.stringify(value, null, indent))).toEqual([]);
    }),
  );
});

test.each([
  "9007199254740992",
  "-9007199254740993",
  "2512292042121000001",
  "1e400",
  "-1e400",
  "-0",
  "-0.0",
  "-0e5",
  "1e-400",
  "0.12345678901234567890",
  "12345678901234567.5",
])("the number %s, which JavaScript would change, is found wherever it stands", (literal) =>
  expectFault("number", literal),
);

test.each([
  "0",
  "-1",
  "9007199254740991",
  "1.0",
  "1.50",
  "0.1",
  "1e5",
  "1E+2",
  "1e21",
  "5e-324",
  "1.7976931348623157e308",
  "0.30000000000000004",
  "100000e-5",
  "0e9",
])("the number %s passes", (literal) => expect(scanJson(`[${literal}]`)).toEqual([]));

test("every integer beyond 2^53 is found, and no other", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (integer) => {
      const exact = integer > -(2n ** 53n) && integer < 2n ** 53n;
      expect(scanJson(String(integer)).length).toBe(exact ? 0 : 1);
    }),
  );
});

test("a decimal passes when it has no more digits than a double prints back", () => {
  fc.assert(
    fc.property(
      fc.bigInt(1n, 10n ** 25n),
      fc.integer({ min: -30, max: 30 }),
      (digits, exponent) => {
        const literal = `${digits}.0e${exponent}`;
        const significant = String(digits).replace(/0+$/, "").length;
        if (significant <= 15) expect(scanJson(literal)).toEqual([]);
        if (significant > 17) expect(scanJson(literal).map(({ kind }) => kind)).toEqual(["number"]);
      },
    ),
  );
});

test("a key that an object has twice is found, however it is written", () => {
  expectFault("duplicate", '{"a":1,"b":{"a":2},"a":3}', ["a"]);
  expectFault("duplicate", String.raw`{"a":1,"\u0061":2}`, ["a"]);
  expectFault("duplicate", '{"__proto__":1,"__proto__":2}', ["__proto__"]);
});

test("a number-like key that JavaScript would move to the front is found", () => {
  expectFault("order", '{"b":1,"10":2}', ["10"]);
  expectFault("order", '{"10":1,"9":2}', ["9"]);
  expect(scanJson('{"9":1,"10":2,"b":3,"01":4,"4294967295":5,"-1":6,"1.5":7}')).toEqual([]);
});

test("U+0000 and half surrogate pairs are found in strings and keys", () => {
  expectFault("text", String.raw`"a\u0000b"`);
  expectFault("text", String.raw`"x\ud83d"`);
  expectFault("text", String.raw`{"\uDE00":1}`, ["\uDE00"]);
  expect(scanJson(String.raw`["\ud83d\ude00", "\\u0000", "\\\\ud800", "\u00e9"]`)).toEqual([]);
});

test("brackets, quotes, digits and commas inside strings mean nothing", () => {
  const text = JSON.stringify({ 'a"],{': '\\"[9007199254740993,{"a":1,"a":2}', b: "\\" });
  expect(scanJson(text)).toEqual([]);
});

test("nesting is reported where it passes the limit, and 100,000 levels harm nobody", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect(scanJson(nested(MAX_DEPTH))).toEqual([]);
  const [fault, ...others] = scanJson(nested(MAX_DEPTH + 1));
  expect(fault).toMatchObject({ kind: "depth" });
  expect(fault?.path).toHaveLength(MAX_DEPTH);
  expect(others).toEqual([]);
  expect(scanJson(nested(100_000))).toHaveLength(1);
});

test("what follows a value that is nested too deeply is still looked at", () => {
  const deep = `${'[{"1":'.repeat(MAX_DEPTH)}"]}"${"}]".repeat(MAX_DEPTH)}`;
  expect(scanJson(`[${deep},-0,{"a":${deep},"a":1}]`)).toMatchObject([
    { kind: "depth" },
    { kind: "number", path: [1] },
    { kind: "depth" },
    { kind: "duplicate", path: [2, "a"] },
  ]);
});

test("faults that the caller does not want take no place in the report", () => {
  const text = `[{"a":0,${'"1":0,'.repeat(30)}"b":0},${"-0,".repeat(30)}{"c":{"d":[[-0]]}}]`;
  const starts: unknown[] = [];
  const kept = scanJson(text, (kind, start) => {
    if (kind === "number") starts.push(start);
    return kind === "number" && start[0] === 31;
  });
  expect(kept).toEqual([{ kind: "number", path: [31, "c", "d", 0, 0], literal: "-0" }]);
  expect(starts.at(-1)).toEqual([31, "c", "d", 0]);
});

test("a body full of faults gets a short report", () => {
  expect(scanJson(`[${"1e400,".repeat(1_000)}0]`)).toHaveLength(20);
  expect(scanJson(`1${"0".repeat(1_000)}`)[0]?.literal?.length).toBeLessThan(50);
});
