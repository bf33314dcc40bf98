import type { Principal } from "../access/principal.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { narrowed } from "./reach.ts";
import type { Remember } from "./remember.ts";
import type { FactScope } from "./row.ts";

export interface Placement {
  readonly scope: FactScope;
  readonly identityId: string | null;
}

/**
 * Where a claim is to be written. Makes an unknown channel's person; never a store.
 *
 * @throws AppError FORBIDDEN outside the key's pins; INVALID_INPUT for a missing or superfluous id; NOT_FOUND
 */
export async function placementOf(
  principal: Principal,
  input: Pick<Remember, "scope" | "userId" | "storeId">,
  { users, orgs }: { readonly users: UserService; readonly orgs: OrgService },
  tx: Tx,
): Promise<Placement> {
  refuseOutsidePins(principal, input.scope);
  const userId = narrowed(principal, "userId", input.userId);
  const storeId = narrowed(principal, "storeId", input.storeId);
  const { orgId, pins } = principal;
  // The server supplies pinned ids with every call: only what a caller chose can be superfluous.
  if (input.scope !== "user" && pins.userId === undefined) refuse("userId", userId, input.scope);
  if (input.scope !== "store" && pins.storeId === undefined)
    refuse("storeId", storeId, input.scope);
  switch (input.scope) {
    case "org":
      return { scope: { name: "org", orgId }, identityId: null };
    case "store": {
      const store = await orgs.findStore(principal, required("storeId", storeId, "store"), tx);
      return { scope: { name: "store", orgId, storeId: store.id }, identityId: null };
    }
    case "user": {
      const person = await users.findOrCreate(principal, required("userId", userId, "user"), tx);
      return {
        scope: { name: "user", orgId, userId: person.userId },
        identityId: person.identityId,
      };
    }
  }
}

function refuseOutsidePins({ pins }: Principal, scope: FactScope["name"]): void {
  if (pins.userId !== undefined && scope !== "user") {
    throw new AppError(
      "FORBIDDEN",
      `scope: this key is bound to one person and cannot write ${scope} facts`,
      {
        hint: 'Send scope "user".',
      },
    );
  }
  if (pins.storeId !== undefined && scope === "org") {
    throw new AppError(
      "FORBIDDEN",
      "scope: this key is bound to one store and cannot write org facts",
      {
        hint: 'Send scope "store" or "user".',
      },
    );
  }
}

function refuse(name: string, value: string | undefined, scope: string): void {
  if (value === undefined) return;
  throw new AppError("INVALID_INPUT", `${name}: does not go with scope "${scope}"`, {
    hint: 'scope "user" takes userId, "store" takes storeId, "org" takes neither.',
  });
}

/** @throws AppError INVALID_INPUT for a missing id */
export function required(name: string, value: string | undefined, scope: string): string {
  if (value !== undefined) return value;
  throw new AppError("INVALID_INPUT", `${name}: missing; scope "${scope}" needs it`);
}
