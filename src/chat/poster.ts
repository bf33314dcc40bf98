import { hasRole, type Principal } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import type { Post } from "./posted.ts";

/** Whose webhooks prove who wrote: a signed post would say it without proof. */
const ADAPTED = ["telegram", "whatsapp"];

/** Who posts messages, and what of them. Made from the credential alone. */
export interface Poster {
  readonly orgId: string;
  readonly by: "signature" | "member" | "admin";
  /** Set: messages of this person alone. */
  readonly userId?: string;
  /** Set: messages of this store alone. */
  readonly storeId?: string;
  /** Set: messages of this channel alone. */
  readonly channel?: string;
  /** Set: messages of this account alone. */
  readonly account?: string;
  /** People who write for the first time need no approval. */
  readonly autoApprove: boolean;
}

/** A key posts for whoever its pins let it: what is written about somebody unknown makes them, approved. */
export function keyPoster(principal: Principal): Poster {
  const { orgId, pins } = principal;
  return {
    orgId,
    by: hasRole(principal, "admin") ? "admin" : "member",
    ...(pins.userId !== undefined && { userId: pins.userId }),
    ...(pins.storeId !== undefined && { storeId: pins.storeId }),
    autoApprove: true,
  };
}

/** @throws AppError FORBIDDEN, or INVALID_INPUT for a message that is nobody's or names them twice */
export function requireMayPost(poster: Poster, post: Post): void {
  if (ADAPTED.includes(post.channel) && poster.by !== "admin") {
    throw new AppError("FORBIDDEN", `channel: messages of ${post.channel} come by its webhook`, {
      hint: "An admin key may post what its webhook missed.",
    });
  }
  for (const part of ["channel", "account"] as const) {
    if (poster[part] === undefined || poster[part] === post[part]) continue;
    throw new AppError("FORBIDDEN", `${part}: the signature is another one's`, {
      hint: "Name channel and account of the secret in the address: ?channel=web&account=shop.",
    });
  }
  if (post.deleted) return;
  const { externalUserId, userId } = post;
  if (poster.by === "signature" && userId !== undefined) {
    throw new AppError("INVALID_INPUT", "userId: a signature speaks for its own channel's people", {
      hint: "Send externalUserId.",
    });
  }
  const names = [externalUserId, userId].filter((name) => name !== undefined).length;
  if (names === 1 || (names === 0 && poster.userId !== undefined)) return;
  throw new AppError("INVALID_INPUT", "send one of externalUserId and userId");
}
