import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import type { VectorIndex, VectorScope } from "../vectors/index.ts";
import type { DuplicateRepository, FoundPair } from "./duplicate-repository.ts";
import { leastCosine, likenessOf } from "./likeness.ts";

/** Neighbours that a claim is compared with: one search, whatever the scope holds. */
const NEIGHBOURS = 8;

/** A claim that just got its vector. */
export interface Embedded {
  readonly id: string;
  readonly vector: Float32Array;
}

interface Model {
  readonly id: number;
  readonly mergeThreshold: number;
}

interface FinderDependencies {
  readonly duplicates: DuplicateRepository;
  readonly index: VectorIndex;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Finds claims that may say what another one of their pocket says under another key. Never merges them. */
export class DuplicateFinder {
  readonly #deps: FinderDependencies;

  constructor(deps: FinderDependencies) {
    this.#deps = deps;
  }

  /**
   * Compares claims of one scope with their nearest neighbours. Safe to repeat: a pair is noted once, and stays dismissed.
   *
   * @throws AppError UNAVAILABLE while the index is away
   */
  async look(
    scope: VectorScope,
    embedded: readonly Embedded[],
    model: Model,
    signal: AbortSignal,
  ): Promise<void> {
    const { duplicates, index, transactions, clock } = this.#deps;
    const name = scope.kind;
    if (name === "message") return;
    const least = leastCosine(model.mergeThreshold);
    const near: { id: string; other: string; cosine: number }[] = [];
    for (const { id, vector } of embedded) {
      const wanted = { modelId: model.id, limit: NEIGHBOURS + 1, signal };
      for (const { documentId: other, cosine } of await index.search([scope], vector, wanted)) {
        if (other !== id && cosine >= least) near.push({ id, other, cosine });
      }
    }
    if (near.length === 0) return;
    const ids = [...new Set(near.flatMap(({ id, other }) => [id, other]))];
    await transactions.tenant(scope, async (tx) => {
      const claims = await duplicates.comparable(scope, name, ids, tx);
      const pairs = near.flatMap(({ id, other, cosine }): FoundPair[] => {
        const [a, b] = [claims.get(id), claims.get(other)];
        const likeness = a && b && likenessOf(a, b, cosine, model.mergeThreshold);
        if (likeness === undefined) return [];
        const [firstId, secondId] = id < other ? [id, other] : [other, id];
        return [{ firstId, secondId, likeness }];
      });
      await duplicates.add(scope, pairs, clock(), tx);
    });
  }
}
