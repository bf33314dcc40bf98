/** Averages over questions, each 0 to 1. */
export interface Quality {
  readonly n: number;
  readonly "R@1": number;
  readonly "R@5": number;
  readonly "R@10": number;
  readonly "R@20": number;
  readonly "NDCG@10": number;
  readonly MRR: number;
  readonly "sessionR@10": number;
  /** Share of the evidence in a block of 1,400 tokens; null where no block was made. */
  readonly "evidence@1400": number | null;
}

/** What one question got. */
export interface Judged {
  readonly ranked: readonly string[];
  readonly evidence: readonly string[];
  /** Sessions in the order in which they are first met, and those of the evidence. */
  readonly rankedSessions: readonly string[];
  readonly sessions: readonly string[];
  /** What the block held. */
  readonly inBlock: readonly string[] | null;
}

/** Recall and binary NDCG as in the protocol of the data (its README). */
export function quality(judged: readonly Judged[]): Quality {
  const mean = (of: (one: Judged) => number) =>
    judged.reduce((sum, one) => sum + of(one), 0) / Math.max(1, judged.length);
  const withBlock = judged.every(({ inBlock }) => inBlock !== null);
  return {
    n: judged.length,
    "R@1": mean(({ ranked, evidence }) => share(ranked.slice(0, 1), evidence)),
    "R@5": mean(({ ranked, evidence }) => share(ranked.slice(0, 5), evidence)),
    "R@10": mean(({ ranked, evidence }) => share(ranked.slice(0, 10), evidence)),
    "R@20": mean(({ ranked, evidence }) => share(ranked.slice(0, 20), evidence)),
    "NDCG@10": mean(({ ranked, evidence }) => ndcg(ranked.slice(0, 10), evidence)),
    MRR: mean(({ ranked, evidence }) => reciprocalRank(ranked, evidence)),
    "sessionR@10": mean(({ rankedSessions, sessions }) =>
      share(rankedSessions.slice(0, 10), sessions),
    ),
    "evidence@1400": withBlock
      ? mean(({ inBlock, evidence }) => share(inBlock ?? [], evidence))
      : null,
  };
}

function share(found: readonly string[], wanted: readonly string[]): number {
  const distinct = new Set(wanted);
  return [...distinct].filter((id) => found.includes(id)).length / Math.max(1, distinct.size);
}

function ndcg(ranked: readonly string[], evidence: readonly string[]): number {
  const gain = (place: number) => 1 / Math.log2(place + 2);
  const wanted = new Set(evidence);
  const dcg = ranked.reduce((sum, id, place) => sum + (wanted.has(id) ? gain(place) : 0), 0);
  const ideal = Array.from({ length: Math.min(10, wanted.size) }, (_, place) => gain(place));
  return dcg / ideal.reduce((sum, one) => sum + one, 0);
}

function reciprocalRank(ranked: readonly string[], evidence: readonly string[]): number {
  const first = ranked.findIndex((id) => evidence.includes(id));
  return first < 0 ? 0 : 1 / (first + 1);
}
