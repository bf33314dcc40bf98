import { z } from "zod";

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
