/**
 * What a person can decide about a claim: accept it over its rivals, call all living values true, replace its value, keep
 * it from fading and expiring, put it away, take it back.
 */
export const DECISION_KINDS = [
  "settle",
  "keep_all",
  "edit",
  "pin",
  "unpin",
  "archive",
  "restore",
] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/** A stored decision: an input of the fold, at its own time. */
export interface Decision {
  readonly id: string;
  readonly kind: DecisionKind;
  /** Any row of the claim in question. */
  readonly factId: string;
  /** Of an edit: the row with the new value. */
  readonly replacedBy: string | null;
  readonly at: Date;
}
