/** Where a claim can be in its life. A claim is one value under one key, in one scope and one agent's pocket. */
export type ClaimState =
  /** Nobody said it. */
  | "unsaid"
  /** Said, and no other value lives under its key. */
  | "live"
  /** Said, and another value lives beside it. */
  | "contested"
  /** Another value took its place: confirmed three times, or chosen by a person. */
  | "superseded"
  /** Out of recall without a successor: faded, put away by a person, or its source was edited. */
  | "archived"
  /** Past its TTL: its rows are deleted. */
  | "expired"
  /** Forgotten on demand: its rows are deleted, tombstones stay. */
  | "erased";

/** What can happen to a claim. */
export type Happening =
  | "new"
  | "confirmed"
  | "contested"
  | "uncontested"
  | "superseded"
  | "archived"
  | "restored"
  | "expired"
  | "erased";

/**
 * Every state with everything that can happen in it; null = it cannot. A value stated again after its claim left does not
 * wake that claim: it makes a new one, which starts at one confirmation.
 */
export const LIFE = {
  unsaid: {
    new: "live",
    confirmed: null,
    contested: null,
    uncontested: null,
    superseded: null,
    archived: null,
    restored: null,
    expired: null,
    erased: null,
  },
  live: {
    new: null,
    confirmed: "live",
    contested: "contested",
    uncontested: "live",
    superseded: "superseded",
    archived: "archived",
    restored: "live",
    expired: "expired",
    erased: "erased",
  },
  contested: {
    new: null,
    confirmed: "contested",
    contested: "contested",
    uncontested: "live",
    superseded: "superseded",
    archived: "archived",
    restored: "contested",
    expired: "expired",
    erased: "erased",
  },
  superseded: {
    new: null,
    confirmed: null,
    contested: null,
    uncontested: null,
    superseded: "superseded",
    archived: "archived",
    restored: "live",
    expired: "expired",
    erased: "erased",
  },
  archived: {
    new: null,
    confirmed: null,
    contested: null,
    uncontested: null,
    superseded: "superseded",
    archived: "archived",
    restored: "live",
    expired: "expired",
    erased: "erased",
  },
  expired: {
    new: null,
    confirmed: null,
    contested: null,
    uncontested: null,
    superseded: null,
    archived: null,
    restored: null,
    expired: "expired",
    erased: "erased",
  },
  erased: {
    new: null,
    confirmed: null,
    contested: null,
    uncontested: null,
    superseded: null,
    archived: null,
    restored: null,
    expired: null,
    erased: "erased",
  },
} as const satisfies Record<ClaimState, Record<Happening, ClaimState | null>>;

/** @throws when the happening cannot happen in that state: a fault of the caller */
export function after(state: ClaimState, happening: Happening): ClaimState {
  const next = LIFE[state][happening];
  if (next === null) throw new Error(`a claim that is ${state} cannot be ${happening}`);
  return next;
}

/** Whether a claim in this state is recalled. */
export function isLive(state: ClaimState): state is "live" | "contested" {
  return state === "live" || state === "contested";
}
