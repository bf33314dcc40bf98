import type { Tx } from "../db/tenant.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { noSuchFact } from "./reach.ts";
import type { FactRepository } from "./repository.ts";
import type { PlacedRow } from "./row.ts";

/**
 * A fact that is about to be changed. A person's stays theirs until the transaction ends: it is asked for again until
 * whoever it belongs to cannot be linked to another one meanwhile.
 *
 * @throws AppError NOT_FOUND
 */
export async function findHeld(
  { facts, users }: { readonly facts: FactRepository; readonly users: UserService },
  org: { readonly orgId: string },
  factId: string,
  tx: Tx,
): Promise<PlacedRow> {
  for (let owner: string | undefined; ; ) {
    const found = isUuid(factId) ? await facts.find(org, factId, tx) : undefined;
    if (!found) throw noSuchFact();
    const { scope } = found;
    if (scope.name !== "user" || scope.userId === owner) return found;
    owner = scope.userId;
    await users.keepUnlinked(org, owner, tx);
  }
}
