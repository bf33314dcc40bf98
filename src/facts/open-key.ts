import { type Chain, isPinned } from "./chains.ts";
import type { Claim } from "./claims.ts";
import type { Decision } from "./decision.ts";
import { isLive } from "./life.ts";
import { OpenClaim } from "./open-claim.ts";
import type { FactRow } from "./row.ts";

/** Statements after which a newer value takes the place of an older one, its first included. */
const SUPERSEDES_AFTER = 3;

/** The claims of a key while its history is walked through. */
export class OpenKey {
  readonly #all = new Set<OpenClaim>();
  readonly #byRow = new Map<string, OpenClaim>();
  /** A chain has at most one live claim. */
  readonly #live = new Map<Chain, OpenClaim>();
  /** No live claim fades before. */
  #nextFade = Number.POSITIVE_INFINITY;

  /** Archives what faded up to a point in time. */
  passTime(at: Date): void {
    if (at.getTime() < this.#nextFade) return;
    this.#nextFade = Number.POSITIVE_INFINITY;
    for (const claim of this.#live.values()) {
      claim.fade(at);
      this.#sort(claim);
    }
  }

  state(row: FactRow, chain: Chain): void {
    const known = this.#live.get(chain);
    known?.confirm(row);
    const claim = known ?? new OpenClaim(row, chain);
    this.#all.add(claim);
    this.#byRow.set(row.id, claim);
    this.#sort(claim);
    if (claim.confirmations < SUPERSEDES_AFTER) return;
    for (const rival of this.#live.values()) {
      if (!isRival(claim, rival) || rival.pinned) continue;
      rival.supersede(claim, row.observedAt);
      this.#sort(rival);
    }
  }

  decide({ kind, factId, replacedBy, id, at }: Decision): void {
    const claim = this.#byRow.get(factId);
    // Its rows lie in one chain: there is nothing left to do.
    if (kind === "alike") return;
    if (kind === "settle") this.#settle(claim, at);
    else if (kind === "edit") this.#edit(claim, this.#byRow.get(replacedBy ?? ""), at);
    else if (claim) this.#decideAlone(claim, kind, id, at);
    // Otherwise its rows have expired, been erased, or been withdrawn since.
  }

  #decideAlone(
    claim: OpenClaim,
    kind: Exclude<Decision["kind"], "settle" | "edit" | "alike">,
    id: string,
    at: Date,
  ): void {
    switch (kind) {
      case "keep_all":
        for (const kept of this.#live.values()) kept.keptBy = id;
        break;
      case "pin":
        if (!isLive(claim.state)) this.#revive(claim, at);
        claim.pin();
        break;
      case "unpin":
        // Of two values that were found alike the other one may be pinned still.
        if (!isPinned(claim.chain, at)) claim.unpin(at);
        break;
      case "archive":
        claim.archive(at, "archived");
        break;
      case "restore":
        this.#revive(claim, at);
        break;
    }
    this.#sort(claim);
  }

  /** What a person rejected stays rejected, also once the value that they accepted is gone. */
  #settle(accepted: OpenClaim | undefined, at: Date): void {
    if (accepted) this.#revive(accepted, at);
    for (const rival of this.#live.values()) {
      if (rival === accepted) continue;
      rival.supersede(accepted, at);
      this.#sort(rival);
    }
  }

  #edit(edited: OpenClaim | undefined, next: OpenClaim | undefined, at: Date): void {
    // Asked of its chain, which knows the edited claim's pin also when that one has expired.
    if (next && isPinned(next.chain, at)) next.pin();
    if (!edited || edited === next) return;
    // Without its successor, which may be erased, the value is as wrong as it was called.
    edited.supersede(next, at, "edited");
    next?.succeed(edited);
    this.#sort(edited);
  }

  /** Adds a row whose source was edited since: archived, and no one's rival. */
  withdrawn(chain: Chain): void {
    const [row] = chain.rows;
    if (!row?.withdrawnAt) return;
    const claim = new OpenClaim(row, chain);
    claim.archive(row.withdrawnAt, "withdrawn");
    this.#all.add(claim);
  }

  close(): Claim[] {
    const live = [...this.#live.values()];
    const kept = Map.groupBy(live, ({ keptBy }) => keptBy);
    for (const claim of live) {
      const allies = claim.keptBy === undefined ? 1 : (kept.get(claim.keptBy)?.length ?? 1);
      if (live.length > allies) claim.contest();
    }
    return [...this.#all].map((claim) => claim.close());
  }

  /** A live claim of the same chain would be the same value twice: it goes into the one that comes back. */
  #revive(claim: OpenClaim, at: Date): void {
    const twin = this.#live.get(claim.chain);
    if (twin && twin !== claim) {
      for (const row of twin.rows) this.#byRow.set(row.id, claim);
      claim.absorb(twin);
      this.#all.delete(twin);
    }
    claim.restore(at);
    this.#sort(claim);
  }

  /** Keeps the live claims, and the time of the next fading, after a claim changed. */
  #sort(claim: OpenClaim): void {
    if (isLive(claim.state)) {
      this.#live.set(claim.chain, claim);
      this.#nextFade = Math.min(this.#nextFade, claim.fadesAt()?.getTime() ?? this.#nextFade);
    } else if (this.#live.get(claim.chain) === claim) {
      this.#live.delete(claim.chain);
    }
  }
}

function isRival(a: OpenClaim, b: OpenClaim): boolean {
  return a !== b && (a.keptBy === undefined || a.keptBy !== b.keptBy);
}
