import { z } from "zod";
import type { SourcedFact } from "../facts/sourced.ts";
import { UserId } from "../users/person.ts";
import type { ArchiveRow } from "./archive-repository.ts";

/** Messages a page. */
const ARCHIVE_PAGE = 50;
/** Messages that a search finds at most: whoever needs more asks for other words. */
export const FOUND_AT_MOST = 500;

const Day = z.iso.date().refine((day) => day >= "0001-01-01", "a day is written YYYY-MM-DD");

const Page = {
  /** A day (UTC) to stay in. */
  day: Day.optional(),
  /** `nextBefore` of the page before, or an ISO 8601 time. */
  before: z.string().min(1).max(256).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(ARCHIVE_PAGE),
};

/** Which messages of a person to look through. */
export const ArchiveQuery = z.object({ userId: UserId, ...Page });
export type ArchiveQuery = z.output<typeof ArchiveQuery>;

/** Which messages of nobody. */
export const NobodyQuery = z.object(Page);
export type NobodyQuery = z.output<typeof NobodyQuery>;

/** What to look for in a person's messages. */
export const ArchiveSearch = z.object({
  userId: UserId,
  search: z.string().trim().min(1).max(400),
  offset: z.coerce.number().int().min(0).max(FOUND_AT_MOST).default(0),
  limit: z.coerce.number().int().min(1).max(200).default(ARCHIVE_PAGE),
});
export type ArchiveSearch = z.output<typeof ArchiveSearch>;

/** A message as somebody who looks through the archive sees it. */
export interface ArchivedEntry {
  readonly id: string;
  /** Null for what nobody said: channel posts, and what could not be read. */
  readonly userId: string | null;
  /** What the person is called. */
  readonly speaker: string | null;
  readonly direction: "inbound" | "outbound";
  readonly kind: string;
  /** Text or caption; at most 4,000 characters in a list. */
  readonly text: string | null;
  readonly isClipped: boolean;
  readonly channel: string;
  readonly account: string;
  readonly conversationId: string;
  readonly sentAt: string;
  readonly editedAt: string | null;
  readonly forwarded: boolean;
  /** The person asked that nothing is learned from it: it is in no search either. */
  readonly optedOut: boolean;
  /** How far a message of ours came; null where nobody told. */
  readonly delivery: "sending" | "sent" | "delivered" | "read" | "failed" | null;
  /** What it said before it was edited, the oldest first. */
  readonly revisions: readonly { readonly text: string | null; readonly replacedAt: string }[];
}

export interface ArchivePage {
  /** Newest first. */
  readonly messages: readonly ArchivedEntry[];
  readonly nextBefore: string | null;
}

export interface ArchiveMatches {
  /** Best first. */
  readonly messages: readonly ArchivedEntry[];
  readonly nextOffset: number | null;
}

/** A message with what was said around it and what was learned from it. */
export interface MessageInContext {
  readonly message: ArchivedEntry;
  /** Of the same conversation, oldest first. */
  readonly before: readonly ArchivedEntry[];
  readonly after: readonly ArchivedEntry[];
  readonly facts: readonly SourcedFact[];
  /** Whether the key may delete it with what was learned from it. */
  readonly mayDelete: boolean;
  /** As the platform sent it, for admins. */
  readonly payload?: unknown;
}

interface Revision {
  readonly messageId: string;
  readonly text: string | null;
  readonly replacedAt: Date;
}

export function archivedEntry(
  { firstName, username, sentAt, editedAt, ...row }: ArchiveRow,
  revisions: readonly Revision[],
): ArchivedEntry {
  return {
    ...row,
    speaker: firstName ?? username,
    sentAt: sentAt.toISOString(),
    editedAt: editedAt?.toISOString() ?? null,
    revisions: revisions
      .filter(({ messageId }) => messageId === row.id)
      .map(({ text, replacedAt }) => ({ text, replacedAt: replacedAt.toISOString() })),
  };
}
