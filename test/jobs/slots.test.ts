import { expect, test } from "vitest";
import { lastSlots } from "../../src/jobs/slots.ts";

const slotsOf = (cron: string, now: string, count = 1) =>
  lastSlots({ kind: "k", cron, run: async () => {} }, new Date(now), count).map(({ at }) =>
    at.toISOString(),
  );

test.each([
  ["0 3 * * *", "2026-03-08T03:00:00.000Z", "2026-03-08T03:00:00.000Z"],
  ["0 3 * * *", "2026-03-08T02:59:59.999Z", "2026-03-07T03:00:00.000Z"],
  ["0 3 * * *", "2026-03-08T03:00:00.001Z", "2026-03-08T03:00:00.000Z"],
  ["7 * * * *", "2026-03-08T03:06:59.000Z", "2026-03-08T02:07:00.000Z"],
  ["* * * * * *", "2026-03-08T03:00:05.999Z", "2026-03-08T03:00:05.000Z"],
  ["0 0 1 1 *", "2026-12-31T23:59:59.000Z", "2026-01-01T00:00:00.000Z"],
])("the last slot of %s at %s is %s", (cron, now, slot) => {
  expect(slotsOf(cron, now)).toEqual([slot]);
});

test("slots come newest first, and a handler without a pattern has none", () => {
  expect(slotsOf("0 3 * * *", "2026-03-08T12:00:00Z", 2)).toEqual([
    "2026-03-08T03:00:00.000Z",
    "2026-03-07T03:00:00.000Z",
  ]);
  expect(lastSlots({ kind: "k", run: async () => {} }, new Date(), 2)).toEqual([]);
});

test("the machine's time zone and its daylight saving move no slot", () => {
  const zone = process.env.TZ;
  try {
    // In New York the hour from two to three is missing on this day.
    for (const TZ of ["UTC", "America/New_York", "Asia/Kolkata"]) {
      process.env.TZ = TZ;
      expect(slotsOf("30 2 * * *", "2026-03-08T12:00:00Z", 2)).toEqual([
        "2026-03-08T02:30:00.000Z",
        "2026-03-07T02:30:00.000Z",
      ]);
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
