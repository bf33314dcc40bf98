import type { Tx } from "../db/tenant.ts";
import type { FactScope } from "../facts/row.ts";
import type { Meaning, QueryVector } from "../search/meaning.ts";
import type { SearchScope } from "../search/scope.ts";
import type { Matches, SearchIndex } from "../search/service.ts";
import type { Evidence } from "./fusion.ts";

/** Documents that each way of searching gives to the fusion. */
const BY_WORDS = 300;
const BY_MEANING = 300;
/** Of a scope so large that an index is asked, where each of them costs 50 µs; the words have found what it holds by then. */
const BY_MEANING_OF_MANY = { documents: 20_000, nearest: 150 };
/** Where a filter leaves out some of what was found: what is left has to be among them. */
const FILTERED = { words: 5_000, meaning: 1_000 };
/** Archived facts lead to what took their place: the best of them are enough, and push out no live one. */
const ARCHIVED = 50;

/** What a search is narrowed by. */
interface Narrowing {
  readonly agents: readonly string[];
  /** Whether archived facts are wanted for themselves. */
  readonly archived: boolean;
  /** Whether facts, and whether messages, are filtered after the search. */
  readonly filtered: { readonly facts: boolean; readonly messages: boolean };
}

/** What a query's words found, and where. */
export interface Words {
  readonly facts: Searched;
  readonly messages: Searched;
}

interface Searched {
  readonly scopes: readonly SearchScope[];
  readonly matches: Matches;
  readonly filtered: boolean;
}

export interface Found {
  readonly facts: Evidence;
  readonly messages: Evidence;
  /** Meaning was to be searched too, and could not be. */
  readonly wordsOnly: boolean;
}

/** Finds documents for a query: by its words, and by its meaning where there is an embedder. */
export class Retrieval {
  readonly #index: SearchIndex;
  readonly #meaning: Meaning | undefined;

  constructor(index: SearchIndex, meaning: Meaning | undefined) {
    this.#index = index;
    this.#meaning = meaning;
  }

  /** Never rejects. @returns undefined while the embedder is away, null where there is nothing to search by */
  vectorOf(query: string): Promise<QueryVector | null | undefined> {
    return this.#meaning?.vectorOf(query) ?? Promise.resolve(null);
  }

  /**
   * Facts in these pockets of the scopes, archived ones too (they lead to what took their place), and the person's
   * messages. Messages that have no vectors yet get them from now on.
   */
  async byWords(
    scopes: readonly FactScope[],
    query: string,
    { agents, archived, filtered }: Narrowing,
    tx: Tx,
  ): Promise<Words> {
    const { facts, messages } = await this.#index.scopes(scopes, agents, tx);
    if (this.#meaning && messages.some(({ embedMessages }) => !embedMessages)) {
      await this.#meaning.wantMessages(messages, tx);
    }
    const match = (some: readonly SearchScope[], isFiltered: boolean) =>
      this.#index.match(some, query, isFiltered ? FILTERED.words : BY_WORDS, tx);
    const live = archived ? facts : facts.filter((scope) => !scope.archived);
    const found = await match(live, filtered.facts);
    const before = facts.filter((scope) => !live.includes(scope));
    const led =
      before.length > 0 ? (await this.#index.match(before, query, ARCHIVED, tx)).hits : [];
    return {
      facts: {
        scopes: live.filter((scope) => !scope.archived),
        matches: { ...found, hits: [...found.hits, ...led] },
        filtered: filtered.facts,
      },
      messages: {
        scopes: messages,
        matches: await match(messages, filtered.messages),
        filtered: filtered.messages,
      },
    };
  }

  async byMeaningToo(words: Words, query: QueryVector | null | undefined): Promise<Found> {
    const nearest = (searched: Searched) =>
      query ? this.#meaning?.nearest(query, searched.scopes, wantedOf(searched)) : undefined;
    const [facts, messages] = await Promise.all([nearest(words.facts), nearest(words.messages)]);
    const floor = query?.model.floor ?? 0;
    return {
      facts: { matches: words.facts.matches, vectors: facts, floor },
      messages: { matches: words.messages.matches, vectors: messages, floor },
      wordsOnly: query !== null && (facts === undefined || messages === undefined),
    };
  }
}

/** How many of the nearest are looked at. */
function wantedOf({ scopes, filtered }: Searched): number {
  if (filtered) return FILTERED.meaning;
  const { documents, nearest } = BY_MEANING_OF_MANY;
  return scopes.some((scope) => scope.documents > documents) ? nearest : BY_MEANING;
}
