import { AppError } from "../errors.ts";
import { INSTANT_HINT, parseInstant } from "../instant.ts";
import { isUuid } from "../uuid.ts";

/** A point in one person's history: messages strictly before it, in (sentAt, id) order. */
export interface HistoryPoint {
  readonly sentAt: Date;
  /** Absent: every message of that millisecond is after the point. */
  readonly id?: string;
}

const PREFIX = "c1.";
const CURSOR = /^([0-9a-f-]{36}) (-?\d{1,16}) ([0-9a-f-]{36})$/;

/** The opaque form of a point, bound to the person it was made for. */
export function writeCursor(userId: string, point: { sentAt: Date; id: string }): string {
  const text = `${userId} ${point.sentAt.getTime()} ${point.id}`;
  return PREFIX + Buffer.from(text).toString("base64url");
}

/**
 * Reads the `before` parameter: a cursor of an earlier page or an ISO 8601 time, exclusive.
 *
 * @throws AppError INVALID_INPUT, also for another person's cursor
 */
export function readBefore(userId: string, before: string): HistoryPoint {
  if (!before.startsWith(PREFIX)) {
    const sentAt = parseInstant(before);
    if (sentAt) return { sentAt };
    throw new AppError("INVALID_INPUT", "before: is neither a time nor a cursor", {
      hint: `${INSTANT_HINT} Or send nextBefore of the page before.`,
    });
  }
  const text = Buffer.from(before.slice(PREFIX.length), "base64url").toString();
  const match = CURSOR.exec(text);
  const sentAt = new Date(Number(match?.[2]));
  const id = match?.[3] ?? "";
  const year = sentAt.getUTCFullYear();
  if (match?.[1] !== userId || !isUuid(id) || !(year >= 1 && year <= 9999)) {
    throw new AppError("INVALID_INPUT", "before: is not a cursor of this person's history", {
      hint: "Send nextBefore exactly as the page before returned it, with the same userId.",
    });
  }
  return { sentAt, id };
}
