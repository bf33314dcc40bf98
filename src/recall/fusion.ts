import type { Matches } from "../search/service.ts";
import type { VectorHit } from "../vectors/index.ts";

/** Related words count more than a share of their own: one of them is often all that a question shares with its answer. */
const RELATED = 1.5;
const COSINE = 0.4;
/** How much what a document has in common with all that were found takes from its cosine: it is near to any question. */
const COMMON = 0.5;
/** What fewer documents have in common may be what was asked for. */
const MANY = 100;
const NO_WORDS = { own: 0, context: 0, related: 0 };
/** What an assistant said is often what the person's words already said, at length. */
const ASSISTANT = 0.6;
/** How much of its better neighbour's lead a document gets: an answer is found by the question before it. */
const NEIGHBOUR = 0.3;
/** How much of what its session says together: what was talked about for long is what was meant. */
const SESSION = 0.4;
/** Scores are compared as whole millionths, so that rounding decides no order. */
const UNITS = 1_000_000;
/** Databases add up a cosine in different orders: beyond four digits they differ now and then. */
const COSINE_UNITS = 10_000;

/** How well a document answers a query. */
export interface Hit {
  readonly documentId: string;
  /** What orders hits: everything together, 0 to about 2. */
  readonly match: number;
  /** Share of the query's words that it has, rare ones weighing more, 0 to 1. */
  readonly words: number;
  /** Cosine of its vector with the query's; null where it has none, or meaning was not searched. */
  readonly cosine: number | null;
}

/** What each way of searching found. */
export interface Evidence {
  readonly matches: Matches;
  /** Best first; undefined where meaning was not searched. */
  readonly vectors: readonly VectorHit[] | undefined;
  /** Cosines below it are no reason to show anything. */
  readonly floor: number;
}

/** A document that was found, as the database has it now. */
export interface Place {
  readonly documentId: string;
  /** Documents of one session were said within one conversation. */
  readonly session: string;
  /** Documents before it and after it in that session, as far as they were found. */
  readonly neighbours: readonly string[];
  readonly isAssistant: boolean;
}

/** Every document that was found by its words or is near enough in meaning. */
export function foundBy({ matches, vectors = [], floor }: Evidence): string[] {
  const near = vectors.filter(({ cosine }) => cosine >= floor);
  return [...new Set([...matches.hits, ...near].map(({ documentId }) => documentId))];
}

/**
 * Documents in the order of how well they answer: a convex sum of what words and cosine say, less for an assistant, and
 * more beside others that answer. The words' score is their share of what the query's words could score at most, so that
 * where the words say little the meaning decides. Best first, ties by id.
 *
 * Source: docs/benchmarks.md, "Recall", has what each part is worth.
 */
export function rank(evidence: Evidence, places: readonly Place[]): Hit[] {
  const alone = new Map(scored(evidence).map((hit) => [hit.documentId, hit]));
  const known = places.flatMap((place) => {
    const hit = alone.get(place.documentId);
    return hit ? [{ ...place, hit, base: hit.match * (place.isAssistant ? ASSISTANT : 1) }] : [];
  });
  const bases = new Map(known.map(({ documentId, base }) => [documentId, base]));
  const sessions = new Map(
    [...Map.groupBy(known, ({ session }) => session)].map(([session, of]) => [
      session,
      together(of.map(({ base }) => base)),
    ]),
  );
  return known
    .map(({ hit, base, session, neighbours, isAssistant }) => {
      const beside = neighbours.reduce((most, id) => Math.max(most, bases.get(id) ?? 0), 0);
      const bonus = isAssistant
        ? 0
        : NEIGHBOUR * Math.max(0, beside - base) + SESSION * (sessions.get(session) ?? 0);
      return { ...hit, match: rounded(base + bonus) };
    })
    .sort((a, b) => b.match - a.match || (a.documentId < b.documentId ? -1 : 1));
}

/** A mean in which the best count most, by their fourth power: a session with several hits comes before one with one. */
function together(scores: readonly number[]): number {
  const sum = scores.toSorted((a, b) => a - b).reduce((total, score) => total + score ** 4, 0);
  return Math.sqrt(Math.sqrt(sum / scores.length));
}

/**
 * How near each document is to the query beyond what all that were found have in common: a greeting is near to any
 * question. What they have in common with the query itself is no reason to take anything.
 */
function nearness(vectors: readonly VectorHit[]): Map<string, number> {
  const cosines = vectors.map(({ cosine }) => fourDigits(cosine));
  const mean = fourDigits(cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length);
  const weight = COMMON * Math.min(1, vectors.length / MANY);
  return new Map(
    vectors.map(({ documentId, common }, n) => {
      const cosine = cosines[n] ?? 0;
      return [
        documentId,
        common === undefined ? cosine : cosine - weight * (fourDigits(common) - mean * cosine),
      ];
    }),
  );
}

function scored({ matches: { hits, attainable }, vectors = [] }: Evidence): Hit[] {
  const cosines = new Map(
    vectors.map(({ documentId, cosine }) => [documentId, fourDigits(cosine)]),
  );
  const near = nearness(vectors);
  const words = new Map(hits.map((hit) => [hit.documentId, hit]));
  const share = (score: number, of: number) => (of > 0 ? score / of : 0);
  // What is not among the nearest is at most as near as the last of them; so is what has no vector yet.
  const assumed = near.size > 0 ? Math.min(...near.values()) : 0;
  return [...new Set([...words.keys(), ...cosines.keys()])].map((documentId) => {
    const { own, context, related } = { ...NO_WORDS, ...words.get(documentId) };
    const ownShare = share(own, attainable.own);
    const lexical =
      (ownShare + share(context, attainable.context)) / 2 +
      RELATED * share(related, attainable.own);
    const cosine = cosines.get(documentId) ?? null;
    return {
      documentId,
      words: rounded(ownShare),
      cosine,
      match: lexical + COSINE * Math.max(0, near.get(documentId) ?? assumed),
    };
  });
}

function rounded(score: number): number {
  return Math.round(score * UNITS) / UNITS;
}

function fourDigits(cosine: number): number {
  return Math.round(cosine * COSINE_UNITS) / COSINE_UNITS;
}
