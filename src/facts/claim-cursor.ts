import { AppError } from "../errors.ts";
import { readPlace } from "../page.ts";
import type { ClaimPoint } from "./org-review-repository.ts";

const POINT = /^(-?\d{1,15})_([0-9a-f-]{36})$/;

/** A place in a list of claims, as its next page's `before`. */
export function writePoint({ at, id }: ClaimPoint): string {
  return `${at.getTime()}_${id}`;
}

/** @throws AppError INVALID_INPUT */
export function readPoint(before: string | undefined): ClaimPoint | undefined {
  if (before === undefined) return undefined;
  const [, at, id] = POINT.exec(before) ?? [];
  const point = readPlace(at, id);
  if (!point) throw notACursor();
  return point;
}

export function notACursor(): AppError {
  return new AppError("INVALID_INPUT", "before: is not a cursor of this list", {
    hint: "Send nextBefore exactly as the page before returned it.",
  });
}
