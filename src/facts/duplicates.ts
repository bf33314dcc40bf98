import { z } from "zod";
import type { Principal } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { isUuid } from "../uuid.ts";
import { notACursor } from "./claim-cursor.ts";
import type { DuplicateRepository, FoundPair, Pair } from "./duplicate-repository.ts";
import { FactId } from "./fact.ts";
import { listedFact } from "./listing.ts";
import { type ClaimCard, placeOf } from "./org-review.ts";
import { mayChange, mayRead, requireRight, shownScopes } from "./reach.ts";
import type { PlacedRow } from "./row.ts";

const PAGE = 20;
/** Pairs that are read to fill a page: of some a claim was put away since, or lies outside the key's pins. */
const LOOKED_AT = 100;
const CURSOR = /^(\d(?:\.\d{1,20})?(?:e-\d{1,3})?)_([0-9a-f-]{36})_([0-9a-f-]{36})$/;

export const DuplicatesQuery = z.object({ before: z.string().max(200).optional() });
export type DuplicatesQuery = z.output<typeof DuplicatesQuery>;

/** Which two claims are meant. */
export const DuplicatePair = z.strictObject({ firstId: FactId, secondId: FactId });
export type DuplicatePair = z.output<typeof DuplicatePair>;

/** Two claims that may be one thing said under two keys. */
export interface Duplicate {
  readonly first: ClaimCard;
  readonly second: ClaimCard;
  /** 0 to 1; 1 = the values are equal. */
  readonly likeness: number;
  readonly foundAt: Date;
  readonly mayDecide: boolean;
}

export interface DuplicatePage {
  readonly duplicates: readonly Duplicate[];
  readonly nextBefore: string | null;
}

interface DuplicatesDependencies {
  readonly duplicates: DuplicateRepository;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly orchestrator: string;
}

/** Possible duplicates as people look through them. */
export class Duplicates {
  readonly #deps: DuplicatesDependencies;

  constructor(deps: DuplicatesDependencies) {
    this.#deps = deps;
  }

  /** The most alike first. @throws AppError INVALID_INPUT for a foreign cursor */
  async list(principal: Principal, { before }: DuplicatesQuery): Promise<DuplicatePage> {
    const { duplicates, transactions, clock } = this.#deps;
    const after = readPair(before);
    const now = clock();
    return transactions.tenant(principal, async (tx) => {
      const pairs = await duplicates.open(principal, after, LOOKED_AT, tx);
      const claims = await this.#shown(principal, pairs, tx);
      const page: Duplicate[] = [];
      for (const [at, pair] of pairs.entries()) {
        const [first, second] = [claims.get(pair.firstId), claims.get(pair.secondId)];
        if (!first || !second) continue;
        page.push({
          first: cardOf(first, now),
          second: cardOf(second, now),
          likeness: pair.likeness,
          foundAt: pair.foundAt,
          mayDecide: mayChange(principal, first) && mayChange(principal, second),
        });
        if (page.length === PAGE) {
          return { duplicates: page, nextBefore: at + 1 < pairs.length ? writePair(pair) : null };
        }
      }
      const last = pairs.at(-1);
      const isFull = pairs.length === LOOKED_AT && last;
      return { duplicates: page, nextBefore: isFull ? writePair(last) : null };
    });
  }

  /**
   * Says that two claims are two things; they are not shown again.
   *
   * @throws AppError NOT_FOUND for what is no open pair, and outside the key's pins; FORBIDDEN without the role
   */
  async dismiss(principal: Principal, { firstId, secondId }: DuplicatePair): Promise<void> {
    const { duplicates, audit, transactions, clock } = this.#deps;
    const pair = { firstId, secondId };
    await transactions.tenant(principal, async (tx) => {
      const claims =
        isUuid(firstId) && isUuid(secondId) && (await this.#shown(principal, [pair], tx));
      const [first, second] = claims ? [claims.get(firstId), claims.get(secondId)] : [];
      if (!first || !second) throw noSuchPair();
      requireRight(principal, first, "changed");
      requireRight(principal, second, "changed");
      const by = { dismissedAt: clock(), dismissedBy: principal.keyId };
      if (!(await duplicates.dismiss(principal, pair, by, tx))) throw noSuchPair();
      const details = { otherId: secondId };
      const event = {
        action: "duplicate.dismissed",
        subjectKind: "fact",
        subjectId: firstId,
      } as const;
      await audit.record(
        principal,
        { ...event, actor: principal.keyId, reason: null, details },
        tx,
      );
    });
  }

  /** Live claims of pairs, as far as the key may see them. */
  async #shown(principal: Principal, pairs: readonly Pair[], tx: Tx) {
    const ids = [...new Set(pairs.flatMap(({ firstId, secondId }) => [firstId, secondId]))];
    const claims = await this.#deps.duplicates.claims(principal, ids, tx);
    const scopes = shownScopes(principal);
    const isShown = (placed: PlacedRow) =>
      scopes.includes(placed.scope.name) && mayRead(principal, placed, this.#deps.orchestrator);
    return new Map([...claims].filter(([, placed]) => isShown(placed)));
  }
}

function cardOf(placed: PlacedRow, now: Date): ClaimCard {
  return { ...listedFact(placed.scope, placed.row, now), ...placeOf(placed) };
}

function noSuchPair(): AppError {
  return new AppError("NOT_FOUND", "no possible duplicate has these ids");
}

function writePair({ likeness, firstId, secondId }: FoundPair): string {
  return `${likeness}_${firstId}_${secondId}`;
}

function readPair(before: string | undefined): FoundPair | undefined {
  if (before === undefined) return undefined;
  const [, likeness, firstId = "", secondId = ""] = CURSOR.exec(before) ?? [];
  if (likeness === undefined || !isUuid(firstId) || !isUuid(secondId)) throw notACursor();
  return { likeness: Number(likeness), firstId, secondId };
}
