import { isUuid } from "../uuid.ts";
import type { Chain } from "./chains.ts";
import type { ArchivedReason, Claim } from "./claims.ts";
import { CALL_SOURCE, EDIT_SOURCE } from "./fact.ts";
import { after, type ClaimState, isLive } from "./life.ts";
import type { FactRow } from "./row.ts";
import { fadesAt } from "./score.ts";

const HOUR_MS = 3_600_000;
/** An edit of a message is the same source. */
const REVISION = /#\d+$/;

/** A claim while the history of its key is walked through. */
export class OpenClaim {
  readonly chain: Chain;
  readonly rows: FactRow[];
  /** The decision that called it true together with others. */
  keptBy: string | undefined;
  state: ClaimState = after("unsaid", "new");
  pinned = false;
  readonly #occasions: Set<string>;
  #confidence: number;
  #strongest: FactRow;
  #lastConfirmed: Date;
  #unpinnedAt: Date | undefined;
  #absorbedBy: OpenClaim | undefined;
  #archived: { at: Date; reason: ArchivedReason; by: OpenClaim | undefined } | undefined;

  constructor(row: FactRow, chain: Chain) {
    this.chain = chain;
    this.rows = [row];
    this.#occasions = new Set([occasionOf(row)]);
    this.#confidence = row.confidence;
    this.#strongest = row;
    this.#lastConfirmed = row.observedAt;
  }

  get confirmations(): number {
    return this.#occasions.size;
  }

  confirm(row: FactRow): void {
    this.state = after(this.state, "confirmed");
    this.rows.push(row);
    this.#occasions.add(occasionOf(row));
    this.#confidence = Math.max(this.#confidence, row.confidence);
    if (row.halfLifeDays > this.#strongest.halfLifeDays) this.#strongest = row;
    if (row.observedAt > this.#lastConfirmed) this.#lastConfirmed = row.observedAt;
  }

  /** Takes over a later claim of the same value, which has to be live. */
  absorb(twin: OpenClaim): void {
    for (const row of twin.rows) {
      this.rows.push(row);
      this.#occasions.add(occasionOf(row));
      this.#confidence = Math.max(this.#confidence, row.confidence);
      if (row.halfLifeDays > this.#strongest.halfLifeDays) this.#strongest = row;
    }
    twin.#absorbedBy = this;
    this.pinned ||= twin.pinned;
    this.keptBy ??= twin.keptBy;
  }

  contest(): void {
    this.state = after(this.state, "contested");
  }

  fade(at: Date): void {
    const due = this.fadesAt();
    if (due && due <= at) this.archive(due, "faded");
  }

  archive(at: Date, reason: ArchivedReason): void {
    this.#end(at, reason, undefined);
    this.state = after(this.state, "archived");
  }

  supersede(
    by: OpenClaim | undefined,
    at: Date,
    reason: "superseded" | "edited" = "superseded",
  ): void {
    this.#end(at, reason, by);
    this.state = after(this.state, "superseded");
  }

  /** Takes the place of a claim that a person edited; what was true beside that one is true beside this one. */
  succeed(edited: OpenClaim): void {
    this.keptBy ??= edited.keptBy;
    edited.pinned = false;
  }

  restore(at: Date): void {
    this.state = after(this.state, "restored");
    this.#archived = undefined;
    this.#lastConfirmed = at;
  }

  pin(): void {
    this.pinned = true;
  }

  unpin(at: Date): void {
    this.pinned = false;
    this.#unpinnedAt = at;
  }

  /** When it is archived unless something happens; undefined where it cannot fade. */
  fadesAt(): Date | undefined {
    if (this.pinned || !isLive(this.state)) return undefined;
    const due = fadesAt(this.#confidence, this.#lastConfirmed, this.#strongest.halfLifeDays);
    return this.#unpinnedAt && this.#unpinnedAt > due ? this.#unpinnedAt : due;
  }

  close(): Claim {
    const first = this.rows[0] as FactRow;
    return {
      factId: first.id,
      rows: this.rows,
      agentId: first.agentId,
      key: first.key,
      value: first.value,
      confidence: this.#confidence,
      tags: [...new Set(this.rows.flatMap((row) => row.tags))],
      tier: this.#strongest.tier,
      halfLifeDays: this.#strongest.halfLifeDays,
      pinned: this.pinned,
      firstSeen: first.observedAt,
      lastConfirmed: this.#lastConfirmed,
      confirmations: this.confirmations,
      state: this.state,
      archivedAt: this.#archived?.at ?? null,
      archivedReason: this.#archived?.reason ?? null,
      supersededBy: this.#successor()?.rows[0]?.id ?? null,
      fadesAt: this.fadesAt() ?? null,
      expiresAt: this.chain.expiresAt,
    };
  }

  #end(at: Date, reason: ArchivedReason, by: OpenClaim | undefined): void {
    this.#archived = { at, reason, by };
  }

  #successor(): OpenClaim | undefined {
    let claim = this.#archived?.by;
    while (claim !== undefined && claim.#absorbedBy !== undefined) claim = claim.#absorbedBy;
    return claim;
  }
}

/**
 * What counts once: a source, a conversation within one hour, an hour of calls that name no source, and an hour of edits.
 * An agent that repeats itself confirms nothing, and neither does a button that was pressed twice.
 */
function occasionOf({ sourceMessageId, conversation, observedAt }: FactRow): string {
  const hour = Math.floor(observedAt.getTime() / HOUR_MS);
  if (conversation !== null) return `${conversation} ${hour}`;
  const own = [CALL_SOURCE, EDIT_SOURCE].find((prefix) => sourceMessageId.startsWith(prefix));
  if (own !== undefined) return `${own}${hour}`;
  const messageId = sourceMessageId.replace(REVISION, "");
  // Of ids that callers made up a number at the end may be all that tells them apart: `ticket#12`.
  return isUuid(messageId) ? messageId : sourceMessageId;
}
