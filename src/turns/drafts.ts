import { AppError } from "../errors.ts";
import { FactDraft, FactScopeName, MIN_CONFIDENCE } from "../facts/fact.ts";
import type { LearnDraft } from "../facts/learn.ts";
import { completeDraft } from "../facts/watch.ts";
import { isOwnWord, type TurnPrompt } from "./prompt.ts";
import { isSecretFact } from "./secrets.ts";
import type { TurnMessage } from "./turn.ts";

/** More from one turn is a model that runs in circles. */
const MAX_FACTS = 5;
const CORRECTION_CONFIDENCE = 0.9;

/** What the server lets this turn's drafts be. */
export interface DraftRules {
  readonly isOperator: boolean;
  readonly hasStore: boolean;
  readonly isCorrection: boolean;
}

/** Drafts that one message states. */
interface Stated {
  readonly message: TurnMessage;
  readonly drafts: readonly LearnDraft[];
}

export interface CheckedDrafts {
  /** In the order of the messages. */
  readonly stated: readonly Stated[];
  /** How many drafts were dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>;
}

/**
 * Holds each draft of an answer against the rules, one by one: a bad one costs itself and is counted. Of what a draft
 * says about whose fact it is only the scope's name is read, and `from`, which must be a message of this turn.
 */
export function checkDrafts(
  found: readonly unknown[],
  turn: Pick<TurnPrompt, "numbered" | "fedBack" | "said">,
  rules: DraftRules,
): CheckedDrafts {
  const stated = new Map<TurnMessage, LearnDraft[]>();
  const dropped: Record<string, number> = {};
  const taken = new Set<string>();
  const drop = (reason: string): void => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  let kept = 0;
  for (const candidate of found) {
    const read = readDraft(candidate, turn, rules);
    if (typeof read === "string") {
      drop(read);
      continue;
    }
    const slot = JSON.stringify([read.message.id, read.scope, completeDraft(read.draft).key]);
    if (taken.has(slot)) drop("duplicate-key");
    else if (kept === MAX_FACTS) drop("too-many");
    else {
      taken.add(slot);
      kept++;
      const { message, scope, draft } = read;
      stated.set(message, [...(stated.get(message) ?? []), { scope, draft }]);
    }
  }
  const inOrder = turn.numbered.flatMap((message) => {
    const drafts = stated.get(message);
    return drafts ? [{ message, drafts }] : [];
  });
  return { stated: inOrder, dropped };
}

/** @returns why the draft is dropped, where it is */
function readDraft(
  candidate: unknown,
  turn: Pick<TurnPrompt, "numbered" | "fedBack" | "said">,
  rules: DraftRules,
): (LearnDraft & { readonly message: TurnMessage }) | string {
  if (typeof candidate !== "object" || candidate === null) return "invalid";
  const given = candidate as Readonly<Record<string, unknown>>;
  const parsed = FactDraft.safeParse(fieldsOf(given));
  if (!parsed.success) return faultOf(parsed.error.issues[0]);
  const draft = parsed.data;
  if (!isStorable(draft)) return "invalid";
  if (draft.value === null || draft.value === "") return "invalid";
  if (draft.confidence < MIN_CONFIDENCE) return "low-confidence";
  if (!canBeCompleted(draft)) return "watch";

  const scope = FactScopeName.safeParse(given.scope ?? "user");
  if (!scope.success) return "scope";
  if (scope.data !== "user" && !rules.isOperator) return "scope";
  if (scope.data === "store" && !rules.hasStore) return "scope";

  const message = sourceOf(given.from, turn.numbered);
  if (!message) return "source";
  if (isSecretFact(draft)) return "secret";
  if (isEcho(draft.value, turn)) return "echo";
  const confidence = rules.isCorrection
    ? Math.max(draft.confidence, CORRECTION_CONFIDENCE)
    : draft.confidence;
  return { scope: scope.data, draft: { ...draft, confidence }, message };
}

/** What a model may say of a fact; half-lives, ids and whatever else it thought of are not its to choose. */
function fieldsOf(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = ["key", "value", "confidence", "tags", "tier", "reasoning"] as const;
  const isGiven = (name: string): boolean =>
    given[name] !== undefined && (name === "value" || given[name] !== null);
  return Object.fromEntries(fields.filter(isGiven).map((name) => [name, given[name]]));
}

const FAULTS = new Map<PropertyKey, string>([
  ["key", "invalid-key"],
  ["confidence", "invalid-confidence"],
  ["value", "too-large"],
]);

function faultOf(issue: { readonly path: readonly PropertyKey[] } | undefined): string {
  return FAULTS.get(issue?.path[0] ?? "") ?? "invalid";
}

/** U+0000 and half of a surrogate pair would fail the statement, and with it every other draft of the turn. */
function isStorable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, part]) => isStorable(key) && isStorable(part));
}

function canBeCompleted(draft: FactDraft): boolean {
  try {
    completeDraft(draft);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** The message that states it: the newest of the person's where none is named, none where another's words are named. */
function sourceOf(from: unknown, numbered: readonly TurnMessage[]): TurnMessage | undefined {
  const named = typeof from === "number" ? numbered[from - 1] : undefined;
  if (named) return isOwnWord(named) ? named : undefined;
  return numbered.findLast(isOwnWord);
}

/** What stands in our own block and nowhere in the person's words was known before: it confirms nothing. */
function isEcho(value: unknown, { fedBack, said }: Pick<TurnPrompt, "fedBack" | "said">): boolean {
  if (fedBack === "") return false;
  const text = plain(typeof value === "string" ? value : JSON.stringify(value));
  return text !== "" && plain(fedBack).includes(text) && !plain(said).includes(text);
}

function plain(text: string): string {
  return text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
