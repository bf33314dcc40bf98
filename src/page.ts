import { z } from "zod";
import { isUuid } from "./uuid.ts";

/** What every list's query holds; numbers come as text. */
export const PageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** `nextBefore` of the page before. */
  before: z.uuid().optional(),
};

/** Cuts a page out of rows that were asked for with one more than it holds, and says where the next one begins. */
export function pageOf<T extends { readonly id: string }>(
  rows: readonly T[],
  limit: number,
): { page: T[]; nextBefore: string | null } {
  const page = rows.slice(0, limit);
  return { page, nextBefore: rows.length > limit ? (page.at(-1)?.id ?? null) : null };
}

/**
 * A place in a list that runs by time, from the two parts of its cursor. The database takes no year beyond 9999 as
 * JavaScript writes it.
 *
 * @returns undefined for what no list has given out
 */
export function readPlace(
  milliseconds: string | undefined,
  id: string | undefined,
): { readonly at: Date; readonly id: string } | undefined {
  if (milliseconds === undefined || id === undefined || !isUuid(id)) return undefined;
  const at = new Date(Number(milliseconds));
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9999 ? { at, id } : undefined;
}
