import { expect, test } from "vitest";
import { parseExactly, readBody } from "../../src/channels/body.ts";

const MIB = 1024 * 1024;

async function* chunks(...parts: (string | number[])[]) {
  for (const part of parts) yield Buffer.from(part as string);
}

test("a character that two packets share comes out whole", async () => {
  const body = await readBody(chunks([0xc3], [0xa9, 0x21]));
  const raw = Buffer.from([0xc3, 0xa9, 0x21]);
  expect(body).toEqual({ raw, text: "é!", bytes: 3, isCut: false });
});

test("a body of exactly 4 MiB is whole, one byte more is cut to its first 64 KiB", async () => {
  const half = "x".repeat(2 * MIB);
  const whole = await readBody(chunks(half, half));
  expect([whole.text.length, whole.bytes, whole.isCut]).toEqual([4 * MIB, 4 * MIB, false]);
  const cut = await readBody(chunks(`start${half}`, half, half, "end"));
  expect(cut).toMatchObject({ bytes: 6 * MIB + 8, isCut: true });
  expect(cut.text).toBe(`start${half}`.slice(0, 64 * 1024));
});

test("a sender that breaks off half way has sent nothing", async () => {
  async function* broken() {
    yield Buffer.from("{");
    throw new Error("aborted");
  }
  await expect(readBody(broken())).rejects.toThrow("aborted");
});

test.each([
  ["9007199254740991", 9_007_199_254_740_991],
  ["9007199254740993", "9007199254740993"],
  ["-9007199254740993", "-9007199254740993"],
  ["1e400", "1e400"],
  ["48.8566", 48.8566],
  ["1e3", 1000],
])("the number %s is read as %j", (source, value) => {
  expect(parseExactly(`{"a":[${source}]}`)).toEqual({ a: [value] });
});
