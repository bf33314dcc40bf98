/** open: more may come; closed: waits for extraction; the others are how it ended. */
export const TURN_STATES = ["open", "closed", "extracted", "skipped", "dead"] as const;
export type TurnState = (typeof TURN_STATES)[number];

/** Where a turn takes place. */
export interface Conversation {
  readonly channel: string;
  readonly account: string;
  readonly conversationId: string;
}

/** Unanswered for this long a turn closes alone; a message after a longer silence begins another one. */
export const TURN_IDLE_MS = 600_000;
/** Of a person's messages in one turn the newest count: more is a monologue, and is paid for by length. */
export const MAX_TURN_MESSAGES = 10;

export const EXTRACT_JOB = "turns.extract";

/** Why nothing is learned from a turn, for good. */
export type SkipReason =
  /** The person asked so, with #noremember. */
  | "opted-out"
  /** The org has memory switched off, or compares and this person does without. */
  | "memory-off"
  /** There is no extractor, or the org's daily limit is 0. */
  | "extraction-off"
  /** No words of the person: pictures, forwarded text, prompts that came back. */
  | "nothing-said"
  /** Not approved, or not any more. */
  | "not-approved"
  /** A person looked at a pending correction and laid it aside. */
  | "dismissed";

/** Why a closed turn waits: the org's daily limit, or what the last attempt met. */
export const WAITS_FOR_TOMORROW = "daily-limit";

/** What a turn becomes when it closes: what must not be learned from is never queued. */
export function closedAs(turn: { readonly arm: "on" | "off"; readonly reason: string | null }): {
  state: "closed" | "skipped";
  reason: SkipReason | null;
} {
  if (turn.reason === "opted-out") return { state: "skipped", reason: "opted-out" };
  if (turn.arm === "off") return { state: "skipped", reason: "memory-off" };
  return { state: "closed", reason: null };
}

/** Which turn a message belongs to. */
export interface Placed {
  readonly turnId: string | null;
  /** The message is out because its turn is. */
  readonly optedOut: boolean;
}

export const NOWHERE: Placed = { turnId: null, optedOut: false };

/** One message of a turn as an extraction reads it. */
export interface TurnMessage {
  readonly id: string;
  readonly direction: "inbound" | "outbound";
  readonly text: string | null;
  readonly forwarded: boolean;
  readonly optedOut: boolean;
  readonly identityId: string | null;
  readonly sentAt: Date;
  /** How often it was edited. */
  readonly revision: number;
}

/** What facts name as their source: each version of a message is a source of its own. */
export function sourceIdOf(message: Pick<TurnMessage, "id" | "revision">): string {
  return message.revision === 0 ? message.id : `${message.id}#${message.revision}`;
}
