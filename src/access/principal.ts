import { AppError } from "../errors.ts";

export const KEY_ROLES = ["member", "admin", "owner"] as const;
/** What a key may do; each role can do all that the ones before it can. */
export type KeyRole = (typeof KEY_ROLES)[number];

/** Parameters that a key fixes: they vanish from the tools' input schemas and the server supplies them. */
export interface Pins {
  readonly userId?: string;
  readonly storeId?: string;
  readonly agentId?: string;
}

/** Who is calling. Made from the credential alone; nothing in a request can change it. */
export interface Principal {
  readonly orgId: string;
  /** The API key's id, or `anonymous` where no key is asked for (loopback, `AUTH=none`). */
  readonly keyId: string;
  readonly role: KeyRole;
  /** The agent that the key speaks for when a call names none. */
  readonly defaultAgent: string;
  readonly pins: Pins;
}

export function hasRole(principal: Principal, role: KeyRole): boolean {
  return KEY_ROLES.indexOf(principal.role) >= KEY_ROLES.indexOf(role);
}

/** Whether a key is an admin's without pins: what a pinned key made without pins would reach past its own. */
export function isAdmin(principal: Principal): boolean {
  return hasRole(principal, "admin") && Object.keys(principal.pins).length === 0;
}

/**
 * Lets only unpinned admins go on.
 *
 * @throws AppError FORBIDDEN
 */
export function requireAdmin(principal: Principal): void {
  if (isAdmin(principal)) return;
  throw new AppError("FORBIDDEN", "this needs an admin key without pins");
}

/**
 * For what cannot be taken back. As with `requireAdmin`, pins shut it.
 *
 * @throws AppError FORBIDDEN
 */
export function requireOwner(principal: Principal): void {
  if (isOwner(principal)) return;
  throw new AppError("FORBIDDEN", "this needs an owner key without pins");
}

export function isOwner(principal: Principal): boolean {
  return hasRole(principal, "owner") && Object.keys(principal.pins).length === 0;
}

/** The key id of the operator's command line, which holds the data directory or the database's credentials. */
export const OPERATOR_KEY_ID = "operator";

/**
 * For what concerns the server rather than one org: other orgs, and which variables of its environment hold secrets.
 *
 * @throws AppError FORBIDDEN for every key, whatever its role
 */
export function requireOperator(principal: Principal): void {
  if (principal.keyId === OPERATOR_KEY_ID) return;
  throw new AppError("FORBIDDEN", "this is done on the server's own command line");
}
