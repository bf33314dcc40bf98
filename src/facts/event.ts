/** What can have happened to a fact. */
export type FactEventKind =
  | "created"
  | "confirmed"
  | "merged"
  | "contested"
  | "superseded"
  | "faded"
  | "expired"
  | "edited"
  | "pinned"
  | "unpinned"
  | "archived"
  | "restored"
  | "settled"
  | "deleted"
  | "reset"
  | "exported";

export interface FactEvent {
  readonly kind: FactEventKind;
  readonly factId: string;
  /** The API key's id, or `system`. */
  readonly actor: string;
  readonly agentId: string;
  readonly reason: string | null;
  /** Absent where there is none, and once the fact was erased; JSON null is a value. */
  readonly oldValue?: unknown;
  readonly newValue?: unknown;
  readonly at: Date;
}

/** Who acts where no person and no agent does. */
export const SYSTEM = "system";
