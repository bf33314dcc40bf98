import type { PersonProfile } from "../users/context.ts";
import { writeCursor } from "./cursor.ts";
import type { Direction } from "./message.ts";

export const DEFAULT_HISTORY_LIMIT = 50;
export const MAX_HISTORY_LIMIT = 500;
/** A page ends early here: clients cut or refuse larger results. */
const MAX_PAGE_BYTES = 100_000;

/** An archived message as a history shows it. */
export interface HistoryMessage {
  readonly id: string;
  readonly direction: Direction;
  readonly kind: string;
  readonly text: string | null;
  readonly channel: string;
  readonly sentAt: Date;
  readonly editedAt: Date | null;
  /** It was to be sent from here, and was not. */
  readonly failed: boolean;
}

interface PageMessage {
  readonly id: string;
  readonly direction: "inbound" | "outbound";
  readonly kind: string;
  readonly text: string | null;
  readonly sentAt: string;
  readonly channel: string;
  readonly edited: boolean;
  /** Only of what was to be sent and, as far as is known, never arrived. */
  readonly failed?: true;
}

export interface HistoryPage {
  /** Oldest first. */
  readonly messages: readonly PageMessage[];
  /** Where the next older page ends; null when there is none. */
  readonly nextBefore: string | null;
}

/** What an agent should know before it answers a person. */
export interface UserContext {
  readonly user: PersonProfile;
  readonly memory: Readonly<Record<string, unknown>>;
  /** Oldest first. */
  readonly recentMessages: readonly PageMessage[];
}

function toPageMessage(message: HistoryMessage): PageMessage {
  return {
    id: message.id,
    direction: message.direction,
    kind: message.kind,
    text: message.text,
    sentAt: message.sentAt.toISOString(),
    channel: message.channel,
    edited: message.editedAt !== null,
    ...(message.failed && { failed: true }),
  };
}

/**
 * Makes a page of rows that are newest first and one more than asked for where there are more. Always holds at least
 * one message, however long that is.
 */
export function toPage(
  userId: string,
  rows: readonly HistoryMessage[],
  limit: number,
): HistoryPage {
  const messages: PageMessage[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const message = toPageMessage(row);
    bytes += Buffer.byteLength(JSON.stringify(message));
    if (messages.length > 0 && bytes > MAX_PAGE_BYTES) break;
    messages.push(message);
  }
  const oldest = rows[messages.length - 1];
  const more = rows.length > messages.length;
  return {
    messages: messages.reverse(),
    nextBefore: more && oldest ? writeCursor(userId, oldest) : null,
  };
}
