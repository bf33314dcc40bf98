import { expect, test } from "vitest";
import { ExtractorFault } from "../../src/llm/extractor.ts";
import { dayOf, nextDay, Pause, retryAt } from "../../src/turns/schedule.ts";

const NOON = new Date("2026-03-01T12:00:00.000Z");
const minutesTo = (date: Date | undefined) => date && (date.getTime() - NOON.getTime()) / 60_000;
const after = (minutes: number) => new Date(NOON.getTime() + minutes * 60_000);

test("eight attempts spread over almost four hours", () => {
  const fault = new ExtractorFault("unreadable");
  const waits = [1, 2, 3, 4, 5, 6, 7].map((attempt) => minutesTo(retryAt(attempt, fault, NOON)));
  expect(waits).toEqual([0.5, 1, 5, 15, 30, 60, 120]);
});

test("nobody asks before the provider allows it", () => {
  const fault = new ExtractorFault("rate-limited", { retryAfterMs: 10 * 60_000 });
  expect(minutesTo(retryAt(1, fault, NOON))).toBe(10);
  const pause = new Pause();
  pause.begin(fault, NOON);
  expect(minutesTo(pause.enter(NOON))).toBe(10);
  expect(minutesTo(pause.enter(after(9)))).toBe(10);
  expect(pause.enter(after(10))).toBeUndefined();
});

test.each([
  ["overloaded", [0.5, 1, 2, 4, 5, 5]],
  ["misconfigured", [5, 10, 20, 40, 60, 60]],
] as const)(
  "a pause for %s doubles up to its longest, and starts afresh after an answer",
  (code, waits) => {
    const pause = new Pause();
    let at = 0;
    for (const wait of waits) {
      expect(pause.enter(after(at))).toBeUndefined();
      pause.begin(new ExtractorFault(code), after(at));
      expect(minutesTo(pause.enter(after(at)))).toBe(at + wait);
      at += wait;
    }
    expect(pause.enter(after(at))).toBeUndefined();
    pause.end();
    expect(pause.enter(after(at))).toBeUndefined();
    pause.begin(new ExtractorFault(code), after(at));
    expect(minutesTo(pause.enter(after(at)))).toBe(at + waits[0]);
  },
);

test("calls that fail together are one failure, and after the pause one call goes first", () => {
  const pause = new Pause();
  for (let call = 0; call < 4; call++) pause.begin(new ExtractorFault("overloaded"), NOON);
  expect(minutesTo(pause.enter(NOON))).toBe(0.5);
  expect(pause.enter(after(0.5))).toBeUndefined();
  expect(minutesTo(pause.enter(after(0.5)))).toBe(2);
  pause.begin(new ExtractorFault("overloaded"), after(0.6));
  expect(minutesTo(pause.enter(after(0.6)))).toBe(1.6);
});

test("days are UTC", () => {
  expect(dayOf(new Date("2026-03-01T23:59:59.999Z"))).toBe("2026-03-01");
  expect(nextDay(NOON)).toEqual(new Date("2026-03-02T00:00:00.000Z"));
  expect(nextDay(new Date("2026-03-02T00:00:00.000Z"))).toEqual(
    new Date("2026-03-03T00:00:00.000Z"),
  );
});
