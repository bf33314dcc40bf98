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
export type PersonalDecision = (typeof DECISION_KINDS)[number];
/** `alike` is the machine's: it finds that the values of two rows mean the same. */
export type DecisionKind = PersonalDecision | "alike";

/** A stored decision: an input of the fold, at its own time. */
export interface Decision {
  readonly id: string;
  readonly kind: DecisionKind;
  /** Any row of the claim in question. */
  readonly factId: string;
  /** Of an edit: the row with the new value. Of `alike`: the other row. */
  readonly replacedBy: string | null;
  /** Who decided: for people to read, the fold does not ask. */
  readonly actor?: string;
  readonly at: Date;
}
