import type { Tx } from "../db/tenant.ts";
import { meaningOf } from "./meaning.ts";
import type { FactRepository } from "./repository.ts";
import type { FactRow, FactScope } from "./row.ts";

/**
 * Deletes rows of one key with the payloads of their events, and every quote of their values in events of the rows that
 * stay. That they were there is for the caller to note.
 *
 * @param left the rows of the same key that stay
 */
export async function eraseRows(
  facts: FactRepository,
  scope: FactScope,
  erased: readonly FactRow[],
  left: readonly FactRow[],
  tx: Tx,
): Promise<void> {
  const ids = erased.map(({ id }) => id);
  await facts.scrubEvents(scope, ids, tx);
  const meanings = new Set(erased.map(({ value }) => meaningOf(value)));
  const leftIds = left.map(({ id }) => id);
  const quoting = (await facts.oldValues(scope, leftIds, tx)).filter(({ value }) =>
    meanings.has(meaningOf(value)),
  );
  const quotes = quoting.map(({ id }) => id);
  await facts.scrubOldValues(scope, quotes, tx);
  await facts.delete(scope, ids, tx);
}
