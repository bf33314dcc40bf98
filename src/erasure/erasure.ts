import { z } from "zod";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";

/** The name of what is erased, typed once more: who erases the wrong one cannot take it back. */
const Confirm = z.string().min(1).max(320);

/** Body of `POST /v1/erasures`. */
export const NewErasure = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("user"), userId: UserId, confirm: Confirm }),
  z.strictObject({ kind: z.literal("store"), storeId: StoreId, confirm: Confirm }),
  z.strictObject({ kind: z.literal("org"), confirm: Confirm }),
  z.strictObject({
    kind: z.literal("conversation"),
    channel: z.string().min(1).max(64),
    /** The channel account it was had through; empty where the channel has none. */
    account: z.string().max(128).default(""),
    conversationId: z.string().min(1).max(256),
    confirm: Confirm,
  }),
]);
export type NewErasure = z.output<typeof NewErasure>;

/** Body of `POST /v1/resets`: what was learned in one scope goes, people and what they said stay. */
export const NewReset = z.discriminatedUnion("scope", [
  z.strictObject({ scope: z.literal("user"), userId: UserId, confirm: Confirm }),
  z.strictObject({ scope: z.literal("store"), storeId: StoreId, confirm: Confirm }),
  z.strictObject({ scope: z.literal("org"), confirm: Confirm }),
]);
export type NewReset = z.output<typeof NewReset>;

export type ErasureKind = "user" | "store" | "org" | "fact" | "message" | "conversation" | "reset";
type ErasureState = "erasing" | "erased" | "verified" | "scrubbed" | "failed";

/** Rows by table, or by table and column. */
export type Places = Readonly<Record<string, number>>;

/** What was erased, what the scan found, and what nobody here can look into. Ids and counts, never contents. */
export interface Report {
  /** Internal ids that nothing may refer to any more, but for what `kept` says. */
  readonly ids: readonly string[];
  readonly before: Places;
  readonly deleted: Places;
  /** Rows that stay as a trace that something happened; what they told is gone. */
  readonly cleared: Places;
  readonly scan?: Scan;
  /** Vectors in an index elsewhere that are not gone yet. */
  readonly vectorsWaiting?: number;
  readonly scrub?: Scrub;
  /** In sentences: what could not be looked into from here. */
  readonly unverified: readonly string[];
  /** Why it did not come to its end. */
  readonly reason?: string;
}

/** One look at every column of every table that can hold an id or a text. */
export interface Scan {
  readonly at: string;
  readonly tables: number;
  readonly columns: number;
  /** What still refers to what was erased: empty, or it is erased again. */
  readonly left: Places;
  /** Rows that name an erased id on purpose, without content. */
  readonly kept: Places;
  /** How many long texts were looked for, and where the same text stands: it may be somebody else's own. */
  readonly samples: number;
  readonly alike: Places;
  /** Other people's rows that name an erased person by the platform's id, e.g. a forwarded message. */
  readonly mentions: Places;
}

/** How the bytes of deleted rows were taken out of the database's files. */
export interface Scrub {
  readonly at: string;
  readonly tables: readonly string[];
  /** Samples of values that the planner keeps were made anew. */
  readonly statistics: boolean;
  /** The write-ahead log holds nothing from before. */
  readonly log: boolean;
}

/** One erasure as owners see it. */
export interface Erasure {
  readonly id: string;
  readonly position: number;
  readonly kind: ErasureKind;
  /** The erased thing's internal id; of a conversation a hash. */
  readonly subjectId: string;
  readonly state: ErasureState;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly erasedAt: string | null;
  readonly verifiedAt: string | null;
  readonly scrubbedAt: string | null;
  readonly report: Report;
  /** Of the entry before it in the org's chain; null for the first, and until this one is sealed. */
  readonly previousHash: string | null;
  /** Null until this entry, and every one before it, came to its end. */
  readonly hash: string | null;
}

/** What the work needs to go on after a restart. Gone from the row before its bytes are. */
export interface Work {
  readonly target?: Target;
  /** Of whom: what the platforms call them. */
  readonly externalIds?: readonly string[];
  /** Salted hashes of some long texts. */
  readonly samples?: { readonly salt: string; readonly hashes: readonly string[] };
  /** How often the scan found something left. */
  readonly rounds?: number;
}

/** What has to be erased, by internal ids. */
export type Target =
  | { readonly kind: "user"; readonly userId: string }
  | { readonly kind: "store"; readonly storeId: string }
  | { readonly kind: "org" }
  | {
      readonly kind: "conversation";
      readonly channel: string;
      readonly account: string;
      readonly conversationId: string;
    }
  | { readonly kind: "reset"; readonly userId?: string; readonly storeId?: string };

export const EMPTY_REPORT: Report = {
  ids: [],
  before: {},
  deleted: {},
  cleared: {},
  unverified: [],
};

export function addPlaces(one: Places, other: Places): Places {
  const sum: Record<string, number> = { ...one };
  for (const [place, rows] of Object.entries(other)) {
    if (rows > 0) sum[place] = (sum[place] ?? 0) + rows;
  }
  return sum;
}

export function totalOf(places: Places): number {
  return Object.values(places).reduce((sum, rows) => sum + rows, 0);
}
