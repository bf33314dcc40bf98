import { hasRole, type Principal } from "../access/principal.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { type OrgService, unknownStore } from "../orgs/service.ts";
import { type UserService, unknownPerson } from "../users/service.ts";
import type { ExportRepository } from "./repository.ts";
import type { ExportQuery, ExportScope } from "./scope.ts";

interface Lookups {
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly rows: ExportRepository;
}

/** Whether a key may take along a person, a store or the org that it can see. Pins to less would leave a part only. */
export function mayExport(by: Principal, scope: ExportScope["name"]): boolean {
  const { userId, storeId, agentId } = by.pins;
  if (agentId !== undefined) return false;
  if (scope === "user") return storeId === undefined;
  if (userId !== undefined || !hasRole(by, "admin")) return false;
  return scope === "store" || storeId === undefined;
}

/**
 * Whose rows a query means. Members take a person along, admins a store and the org.
 *
 * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; FORBIDDEN without the role, and where a pin would
 *   leave only a part; INVALID_INPUT for a query that does not name one person, one store or the org
 */
export async function scopeOfQuery(
  by: Principal,
  { userId, storeId, org }: Omit<ExportQuery, "format">,
  { users, orgs, rows }: Lookups,
  tx: Tx,
): Promise<ExportScope> {
  const { orgId, pins } = by;
  const named = [userId, storeId, org].filter((name) => name !== undefined);
  if (named.length > 1 || (named.length === 0 && pins.userId === undefined))
    throw new AppError("INVALID_INPUT", "name one of userId, storeId and org=1");
  if (storeId !== undefined) {
    if (pins.userId !== undefined) throw unknownStore();
    requireRight(by, "store");
    const { id } = await orgs.findStore(by, storeId, tx);
    if ((pins.storeId ?? id) !== id) throw unknownStore();
    return { name: "store", orgId, storeId: id };
  }
  if (org !== undefined) {
    requireRight(by, "org");
    return { name: "org", orgId };
  }
  requireRight(by, "user");
  const { userId: id } = await users.find(by, userId ?? pins.userId ?? "", tx);
  if ((pins.userId ?? id) !== id) throw unknownPerson();
  return { name: "user", orgId, userId: id, userIds: await rows.family(by, id, tx) };
}

function requireRight(by: Principal, scope: ExportScope["name"]): void {
  if (mayExport(by, scope)) return;
  throw new AppError(
    "FORBIDDEN",
    scope === "user"
      ? "an export holds everything: a key that is bound to an agent or a store takes none"
      : "the org and its stores are exported by admins, with a key that is not bound to less",
  );
}
