import type { Principal } from "../access/principal.ts";
import type { Tx } from "../db/tenant.ts";
import { isUuid } from "../uuid.ts";
import type { Claim } from "./claims.ts";
import { CALL_SOURCE, EDIT_SOURCE } from "./fact.ts";
import type { FactRow } from "./row.ts";

/** A message's id, and the number of its edit. */
const SOURCE = /^([0-9a-f-]{36})(?:#(\d{1,9}))?$/i;

/** An archived message that facts name as their source, as the archive has it now. */
interface SourceMessage {
  readonly id: string;
  readonly userId: string | null;
  /** Who wrote it, or was written to; null for nobody's messages and people without a name. */
  readonly personName: string | null;
  readonly direction: "inbound" | "outbound";
  readonly kind: string;
  readonly channel: string;
  readonly sentAt: Date;
  readonly optedOut: boolean;
  readonly text: string | null;
  /** What it said before each of its edits, oldest first. */
  readonly earlier: readonly (string | null)[];
}

/** Looks up archived messages by their ids; what is not archived any more is left out. */
export interface SourceMessages {
  ofIds(
    org: { readonly orgId: string },
    ids: readonly string[],
    tx: Tx,
  ): Promise<readonly SourceMessage[]>;
}

/** Where a statement comes from, as far as the caller may see it. */
type Source =
  /** An agent's call that named no message. */
  | { readonly kind: "call" }
  /** Written by a person on the memory page. */
  | { readonly kind: "edit" }
  /** A name that the caller of a tool gave it. */
  | { readonly kind: "named"; readonly name: string }
  /** A message that is not in the archive, or not any more. */
  | { readonly kind: "gone" }
  /** A message of somebody else than the person that the key is bound to. */
  | { readonly kind: "hidden" }
  | {
      readonly kind: "message";
      readonly messageId: string;
      readonly userId: string | null;
      readonly personName: string | null;
      readonly direction: "inbound" | "outbound";
      readonly messageKind: string;
      readonly channel: string;
      readonly sentAt: Date;
      /** What it said when the statement was made; null for what has no words, and where the person asked to leave it out. */
      readonly text: string | null;
      readonly optedOut: boolean;
      /** It says something else now. */
      readonly edited: boolean;
    };

/** One statement of a claim. */
export interface Statement {
  readonly factId: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly sourceMessageId: string;
  readonly isCorrection: boolean;
  readonly writtenBy: string;
  readonly reasoning: string | null;
  readonly observedAt: Date;
}

export interface Sourced extends Statement {
  readonly source: Source;
}

/** The newest statements of a claim, newest first. */
export function statementsOf({ rows }: Pick<Claim, "rows">, limit: number): Statement[] {
  return rows.slice(-limit).reverse().map(statementOf);
}

function statementOf(row: FactRow): Statement {
  const { id, value, confidence, sourceMessageId, sourceReason, writtenBy, reasoning, observedAt } =
    row;
  const isCorrection = sourceReason === "user-correction";
  const said = { value, confidence, sourceMessageId, isCorrection, writtenBy, reasoning };
  return { factId: id, ...said, observedAt };
}

/** Knows which messages facts come from. */
export class FactSources {
  readonly #messages: SourceMessages;

  constructor(messages: SourceMessages) {
    this.#messages = messages;
  }

  /** Statements with their sources. A key of one person is shown no word of anybody else. */
  async of(principal: Principal, statements: readonly Statement[], tx: Tx): Promise<Sourced[]> {
    const ids = statements.flatMap(({ sourceMessageId }) => messageOf(sourceMessageId)?.id ?? []);
    const found =
      ids.length > 0 ? await this.#messages.ofIds(principal, [...new Set(ids)], tx) : [];
    const byId = new Map(found.map((message) => [message.id, message]));
    return statements.map((statement) => ({
      ...statement,
      source: sourceOf(principal, statement.sourceMessageId, byId),
    }));
  }
}

function messageOf(source: string): { id: string; revision: number } | undefined {
  const [, id = "", revision = "0"] = SOURCE.exec(source) ?? [];
  return isUuid(id) ? { id: id.toLowerCase(), revision: Number(revision) } : undefined;
}

function sourceOf(
  { pins }: Principal,
  source: string,
  messages: ReadonlyMap<string, SourceMessage>,
): Source {
  if (source.startsWith(CALL_SOURCE)) return { kind: "call" };
  if (source.startsWith(EDIT_SOURCE)) return { kind: "edit" };
  const named = messageOf(source);
  if (!named) return { kind: "named", name: source };
  const message = messages.get(named.id);
  if (!message) return { kind: "gone" };
  if (pins.userId !== undefined && pins.userId !== message.userId) return { kind: "hidden" };
  const { id, kind, earlier, text, optedOut, ...shown } = message;
  const { userId, personName, direction, channel, sentAt } = shown;
  const edited = named.revision < earlier.length;
  const said = edited ? (earlier[named.revision] ?? null) : text;
  return {
    ...{
      kind: "message",
      messageId: id,
      messageKind: kind,
      userId,
      personName,
      direction,
      channel,
    },
    ...{ sentAt, optedOut, edited, text: optedOut ? null : said },
  };
}
