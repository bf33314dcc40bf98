import { createHash } from "node:crypto";
import { type RecallAnswer, recalledFacts, recalledMessages } from "./answer.ts";
import { factLine, type Line, messageLine } from "./block.ts";
import type { Claims } from "./candidates.ts";
import type { Hit } from "./fusion.ts";
import type { MatchedMessage } from "./messages.ts";
import type { Ranked } from "./order.ts";
import type { Recall } from "./query.ts";
import type { Found } from "./retrieval.ts";
import { type Block, fillTiers } from "./tiers.ts";
import type { CountTokens } from "./tokens.ts";

/** So many facts and messages that answer the query come first in the block, before the rest goes by its match. */
const AT_LEAST = 5;

/** A recall with what its block is made of. */
export interface Inspection {
  readonly answer: RecallAnswer;
  readonly block: Block;
  /** Everything that was found for the query, best first; more than the answer and the block hold. */
  readonly hits: { readonly facts: readonly Hit[]; readonly messages: readonly Hit[] };
}

interface Setting {
  readonly input: Recall;
  readonly disabled: boolean;
  readonly stableBlock: string;
  /** What was found for the query; undefined without one. */
  readonly found: Found | undefined;
  readonly now: Date;
  readonly asOf: Date | undefined;
  readonly count: CountTokens;
}

/** What a recall found and read. */
interface Material {
  readonly claims: Claims;
  /** Of messages: every one that was found, best first; `messages` are the best of them. */
  readonly hits: readonly Hit[];
  readonly messages: readonly MatchedMessage[];
}

const WORDS_ONLY = "searched by words alone: the embedder or the vector index is away";

/** Makes the answer of what was found. Pure: the same material gives the same blocks, whatever the time. */
export function assemble(
  { claims, hits, messages }: Material,
  { input, disabled, stableBlock, found, now, asOf, count }: Setting,
): Inspection {
  const offers = {
    core: factLines(claims.core, count),
    working: factLines(claims.recent, count),
    archival: found ? archival(claims.matched, messages, count) : factLines(claims.matched, count),
  };
  const block = fillTiers(offers, input.budgetTokens, count);
  const at = asOf ?? now;
  // The block keeps its bytes until the hourly expiry deletes what is over; the data says it at once.
  const lasting = claims.matched.filter(
    ({ claim }) => claim.expiresAt === null || claim.expiresAt > at,
  );
  const answer: RecallAnswer = {
    ...(disabled && { disabled }),
    ...(found?.wordsOnly && { degraded: WORDS_ONLY }),
    stableBlock,
    memoryBlock: block.text,
    tokens: block.tokens,
    etag: etagOf(stableBlock, block.text),
    facts: recalledFacts(lasting.slice(0, input.limit), found !== undefined, at),
    messages: recalledMessages(messages.slice(0, input.limit)),
  };
  return { answer, block, hits: { facts: claims.hits, messages: hits } };
}

/** Lines are made and counted one by one, as long as there is room. */
function* factLines(facts: readonly Ranked[], count: CountTokens): Generator<Line> {
  for (const fact of facts) yield factLine(fact, count);
}

/** The best of both kinds first, then whatever matches better. */
function* archival(
  facts: readonly Ranked[],
  messages: readonly MatchedMessage[],
  count: CountTokens,
): Generator<Line> {
  const offered = [
    ...facts.map((fact, place) => ({
      place,
      match: fact.match,
      line: () => factLine(fact, count),
    })),
    ...messages.map((message, place) => ({
      place,
      match: message.hit.match,
      line: () => messageLine(message, count),
    })),
  ];
  const first = offered.filter(({ place }) => place < AT_LEAST);
  const rest = offered.filter(({ place }) => place >= AT_LEAST);
  for (const { line } of [...first, ...rest.sort((a, b) => b.match - a.match)]) yield line();
}

function etagOf(...blocks: string[]): string {
  return createHash("sha256").update(JSON.stringify(blocks)).digest("hex").slice(0, 32);
}
