import { scoreOf } from "../facts/claims.ts";
import type { FactScopeName, Tier } from "../facts/fact.ts";
import { isLive } from "../facts/life.ts";
import type { MatchedMessage } from "./messages.ts";
import type { Ranked } from "./order.ts";

/** Where the facts of an answer end early: what a model can still read beside its own context. */
const MAX_BYTES = 100_000;

/** One recalled fact, with why it is here. */
export interface RecalledFact {
  readonly factId: string;
  readonly scope: FactScopeName;
  readonly agentId: string;
  readonly key: string;
  readonly value: unknown;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly confidence: number;
  /** Now: confidence × 0.5^(days since last confirmed / half-life). */
  readonly score: number;
  readonly halfLifeDays: number;
  /** How well its key answers the query, 0 to about 1; null without a query. */
  readonly match: number | null;
  /** What of its own text answered: the share of the query's words, 0 to 1, and the cosine; null where it did not. */
  readonly words: number | null;
  readonly cosine: number | null;
  /** What decided its place after the match: its score when the scope last changed, halved where contested. */
  readonly rank: number;
  /** Of the latest statement. */
  readonly sourceMessageId: string;
  readonly reasoning: string | null;
  readonly firstSeen: string;
  readonly lastConfirmed: string;
  readonly confirmations: number;
  readonly contested: boolean;
  readonly archived: boolean;
}

interface RecalledMessage {
  readonly id: string;
  readonly speaker: string;
  readonly channel: string;
  readonly text: string;
  readonly sentAt: string;
  readonly match: number;
  readonly words: number;
  readonly cosine: number | null;
}

export interface RecallAnswer {
  /** Memory is switched off for this org or person: the blocks are empty whatever is kept. */
  readonly disabled?: true;
  /** Only words were searched for, because the embedder or the vector index is away. */
  readonly degraded?: string;
  /** The org's and the store's rules, for the cached part of a prompt: empty where there are none. Never holds a fact. */
  readonly stableBlock: string;
  readonly memoryBlock: string;
  /** Of `memoryBlock`, counted on the high side. */
  readonly tokens: number;
  /** Changes exactly when a block's text does. */
  readonly etag: string;
  readonly facts: readonly RecalledFact[];
  readonly messages: readonly RecalledMessage[];
}

/** As many facts, best first, as an answer may hold. */
export function recalledFacts(
  ranked: readonly Ranked[],
  searched: boolean,
  now: Date,
): RecalledFact[] {
  const facts: RecalledFact[] = [];
  let bytes = 0;
  for (const candidate of ranked) {
    const fact = recalledFact(candidate, searched, now);
    bytes += Buffer.byteLength(JSON.stringify(fact));
    if (bytes > MAX_BYTES) break;
    facts.push(fact);
  }
  return facts;
}

function recalledFact(
  { scope, claim, hit, match, rank }: Ranked,
  searched: boolean,
  now: Date,
): RecalledFact {
  const latest = claim.rows.at(-1);
  return {
    factId: claim.factId,
    scope: scope.name,
    agentId: claim.agentId,
    key: claim.key,
    value: claim.value,
    tags: claim.tags,
    tier: claim.tier,
    confidence: claim.confidence,
    score: scoreOf(claim, now),
    halfLifeDays: claim.halfLifeDays,
    match: searched ? match : null,
    words: hit?.words ?? null,
    cosine: hit?.cosine ?? null,
    rank,
    sourceMessageId: latest?.sourceMessageId ?? "",
    reasoning: latest?.reasoning ?? null,
    firstSeen: claim.firstSeen.toISOString(),
    lastConfirmed: claim.lastConfirmed.toISOString(),
    confirmations: claim.confirmations,
    contested: claim.state === "contested",
    archived: !isLive(claim.state),
  };
}

export function recalledMessages(matched: readonly MatchedMessage[]): RecalledMessage[] {
  return matched.map(({ id, speaker, channel, text, sentAt, hit }) => ({
    id,
    speaker,
    channel,
    text,
    sentAt: sentAt.toISOString(),
    match: hit.match,
    words: hit.words,
    cosine: hit.cosine,
  }));
}
