import { z } from "zod";
import { Reason } from "../audit/service.ts";
import { PageQuery } from "../page.ts";
import { UserId } from "../users/person.ts";
import type { LinkRow } from "./repository.ts";

/** What shows that two are one person: never a name, a number or an address that look alike. */
export type LinkProof = LinkRow["proof"];

/** Body of `POST /v1/users/:userId/links`: the identities of `with` go to the person of the address. */
export const NewLinkByHand = z.strictObject({ with: UserId, reason: Reason });

export const UndoLink = z.strictObject({ reason: Reason.optional() });

/** Query of `GET /v1/links`. */
export const LinkQuery = z.strictObject({
  userId: UserId.optional(),
  ...PageQuery,
});
export type LinkQuery = z.output<typeof LinkQuery>;

/** A link as admins see it. */
export interface LinkRecord {
  readonly id: string;
  readonly fromUserId: string;
  readonly toUserId: string;
  readonly proof: LinkProof;
  readonly actor: string;
  readonly reason: string | null;
  readonly at: string;
  readonly undoneAt: string | null;
  readonly undoneBy: string | null;
}

export function recordOf({ orgId: _, at, undoneAt, ...row }: LinkRow): LinkRecord {
  return { ...row, at: at.toISOString(), undoneAt: undoneAt?.toISOString() ?? null };
}
