import { hasRole, type Pins, type Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import { FACT_SCOPES, type FactScopeName } from "./fact.ts";
import { type FactScope, type PlacedRow, scopeOf } from "./row.ts";

/** Where a fact lies. */
interface Placed {
  readonly scope: FactScope;
  readonly row: { readonly agentId: string };
}

/**
 * The id that a call means: the pinned one, else what the call says. A caller that names another one than its key is
 * bound to gets the answer for an unknown id.
 */
export function narrowed(
  principal: Principal,
  name: keyof Pins,
  given: string | undefined,
): string | undefined {
  const pin = principal.pins[name];
  if (pin !== undefined && given !== undefined && given !== pin) {
    throw new AppError("NOT_FOUND", `nothing is known under this ${name}`);
  }
  return pin ?? given;
}

/** Whether a key may read a fact: what `recall` shows it, so the orchestrator's pocket too. */
export function mayRead(
  { pins }: Principal,
  { scope, row }: PlacedRow,
  orchestrator: string,
): boolean {
  if (scope.name === "user" && (pins.userId ?? scope.userId) !== scope.userId) return false;
  if (scope.name === "store" && (pins.storeId ?? scope.storeId) !== scope.storeId) return false;
  return row.agentId === orchestrator || row.agentId === (pins.agentId ?? row.agentId);
}

/** What a key sees of a whole org, for queries. */
export interface Reach {
  readonly userId: string | undefined;
  readonly storeId: string | undefined;
  /** Pockets; undefined = every one. */
  readonly agents: readonly string[] | undefined;
}

export function reachOf({ pins }: Principal, orchestrator: string): Reach {
  return {
    userId: pins.userId,
    storeId: pins.storeId,
    agents: pins.agentId === undefined ? undefined : [pins.agentId, orchestrator],
  };
}

/** The kinds of scope that a person is shown: a key of one person shows that person alone, whatever its agent recalls. */
export function shownScopes({ pins }: Principal): readonly FactScopeName[] {
  return pins.userId === undefined ? FACT_SCOPES : ["user"];
}

/** Whether a fact lies inside what the key is bound to; its role is another question. */
function isInside({ pins }: Principal, { scope, row }: Placed): boolean {
  if ((pins.agentId ?? row.agentId) !== row.agentId) return false;
  switch (scope.name) {
    case "org":
      return pins.userId === undefined && pins.storeId === undefined;
    case "store":
      return pins.userId === undefined && (pins.storeId ?? scope.storeId) === scope.storeId;
    case "user":
      return (pins.userId ?? scope.userId) === scope.userId;
  }
}

/** A fact of an agent's pocket in a scope, as far as rights ask for it. */
export function placedIn(
  orgId: string,
  {
    scope: name,
    userId = "",
    storeId = "",
  }: { scope: FactScopeName; userId?: string | undefined; storeId?: string | undefined },
  agentId: string,
): Placed {
  return { scope: scopeOf(name, orgId, name === "user" ? userId : storeId), row: { agentId } };
}

/** Whether a key may change and forget a fact, as `requireRight` has it. */
export function mayChange(principal: Principal, placed: Placed): boolean {
  return (
    isInside(principal, placed) && (placed.scope.name === "user" || hasRole(principal, "admin"))
  );
}

export function noSuchFact(): AppError {
  return new AppError("NOT_FOUND", "no fact has this id");
}

/**
 * @param done what is done to the fact, for the message: "forgotten"
 * @throws AppError NOT_FOUND outside the key's pins; FORBIDDEN without the role
 */
export function requireRight(principal: Principal, placed: PlacedRow, done: string): void {
  if (!isInside(principal, placed)) throw noSuchFact();
  if (!mayChange(principal, placed)) {
    throw new AppError("FORBIDDEN", `facts of an org or a store are ${done} by admins`, {
      hint: "Ask somebody who holds an admin key.",
    });
  }
}
