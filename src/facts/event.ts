/** What can have happened to a fact (more kinds come with the life of facts: merged, faded, settled, …). */
export type FactEventKind = "created" | "confirmed" | "contested" | "superseded" | "deleted";

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
