import { z } from "zod";
import { AppError } from "../errors.ts";
import { isUuid } from "../uuid.ts";

/** How a caller names a person: by our id, or by the id that a channel gave them. */
export type PersonRef =
  | { readonly internalId: string }
  | { readonly channel: string; readonly externalId: string };

/** A person as a write needs them: who, and the channel identity that the write came by (null: none in particular). */
export interface Person {
  readonly userId: string;
  readonly identityId: string | null;
}

/** What a person may do here, and whether anything is learned from them. */
export interface Standing {
  readonly status: UserStatus;
  readonly role: "customer" | "operator";
}

const CHANNEL = /^[a-z0-9][a-z0-9_-]{0,62}$/;
/**
 * No control, format, surrogate, private or unassigned character, no line break and nothing else that cannot be seen,
 * but for the plain space: two ids must not differ in what nobody can see.
 */
const PRINTABLE = /^(?:(?![\p{C}\p{Default_Ignorable_Code_Point}\u2800])\S| )+$/u;
const MAX_EXTERNAL_ID = 256;

/** An external id as a channel gave it. */
export const ExternalId = z
  .string()
  .refine(isExternalId, "an external id is 1 to 256 printable characters");

/** A channel's name and a colon come before the external id. */
const MAX_USER_ID = MAX_EXTERNAL_ID + 64;

/** The `userId` parameter of every tool and route. Characters are code points, as JSON Schema counts them. */
export const UserId = z
  .string()
  .min(1)
  .refine((id) => [...id].length <= MAX_USER_ID, {
    message: `a userId has at most ${MAX_USER_ID} characters`,
  })
  .meta({ maxLength: MAX_USER_ID });

/**
 * Reads a `userId`: a uuid is always an internal id; `channel:externalId` splits at the first colon; anything else is
 * an external id on the default channel.
 *
 * @throws AppError INVALID_INPUT
 */
export function parsePersonRef(userId: string, defaultChannel: string): PersonRef {
  if (isUuid(userId)) return { internalId: userId.toLowerCase() };
  const colon = userId.indexOf(":");
  const channel = colon === -1 ? defaultChannel : userId.slice(0, colon);
  const externalId = colon === -1 ? userId : userId.slice(colon + 1);
  return externalRef(channel, externalId);
}

/** A person by what a channel calls them. @throws AppError INVALID_INPUT */
export function externalRef(
  channel: string,
  externalId: string,
): { readonly channel: string; readonly externalId: string } {
  if (!CHANNEL.test(channel)) {
    throw new AppError("INVALID_INPUT", "userId: the channel before ':' is not a channel name", {
      hint: "Send telegram:12345, or the internal id that get_user_context returned.",
    });
  }
  if (!isExternalId(externalId)) {
    throw new AppError("INVALID_INPUT", "userId: an external id is 1 to 256 printable characters", {
      hint: "Send it exactly as the channel gave it, e.g. telegram:12345.",
    });
  }
  return { channel, externalId };
}

/** Whether an external id is a phone number: that can become another person's, an id that a platform made cannot. */
export function isPhoneNumber(externalId: string): boolean {
  return /^\+?\d{5,20}$/.test(externalId);
}

export const UserStatus = z.enum(["pending", "approved", "blocked"]);
export type UserStatus = z.output<typeof UserStatus>;

/** A person as another program is told of them. */
export interface PersonWithIdentities extends Standing {
  readonly id: string;
  readonly username: string | null;
  readonly firstName: string | null;
  /** Oldest first. */
  readonly identities: readonly {
    readonly id: string;
    readonly channel: string;
    readonly externalId: string;
  }[];
}

function isExternalId(text: string): boolean {
  const length = [...text].length;
  if (length < 1 || length > MAX_EXTERNAL_ID || text.trim() !== text) return false;
  return PRINTABLE.test(text);
}

/** A person as lists show them. */
export interface PersonCard {
  readonly id: string;
  readonly username: string | null;
  readonly firstName: string | null;
  readonly status: UserStatus;
  readonly role: "customer" | "operator";
  readonly createdAt: string;
  /** As `channel:externalId`. */
  readonly identities: readonly string[];
}

/** A person as their own page shows them. */
export interface PersonDetail extends Omit<PersonCard, "identities"> {
  readonly approvedAt: string | null;
  /** Oldest first. */
  readonly identities: readonly {
    readonly channel: string;
    readonly externalId: string;
    readonly username: string | null;
    readonly firstName: string | null;
    readonly since: string;
    /** Since when nothing can be sent to them there, because they stopped it; null: it can. */
    readonly unreachableAt: string | null;
  }[];
  /** Who was linked into this person, by the ids that they had. */
  readonly linked: readonly string[];
  readonly holdings: Holdings;
}

/** How much is kept of a person, each counted up to 1,001: that says more than 1,000. */
interface Holdings {
  readonly messages: number;
  /** Live ones. */
  readonly facts: number;
  readonly entries: number;
}
