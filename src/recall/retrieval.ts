import type { Tx } from "../db/tenant.ts";
import type { FactScope } from "../facts/row.ts";
import type { Meaning, QueryVector } from "../search/meaning.ts";
import type { SearchScope } from "../search/scope.ts";
import type { Matches, SearchIndex } from "../search/service.ts";
import type { Evidence } from "./fusion.ts";

/** Documents that each way of searching gives to the fusion: with a hundred the best ten are the same on public data. */
const BY_WORDS = 200;
const BY_MEANING = 100;

/** What a query's words found, and where. */
export interface Words {
  readonly facts: Searched;
  readonly messages: Searched;
}

interface Searched {
  readonly scopes: readonly SearchScope[];
  readonly matches: Matches;
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
    agents: readonly string[],
    query: string,
    tx: Tx,
  ): Promise<Words> {
    const { facts, messages } = await this.#index.scopes(scopes, agents, tx);
    if (this.#meaning && messages.some(({ embedMessages }) => !embedMessages)) {
      await this.#meaning.wantMessages(messages, tx);
    }
    return {
      facts: { scopes: facts, matches: await this.#index.match(facts, query, BY_WORDS, tx) },
      messages: {
        scopes: messages,
        matches: await this.#index.match(messages, query, BY_WORDS, tx),
      },
    };
  }

  async byMeaningToo(words: Words, query: QueryVector | null | undefined): Promise<Found> {
    const live = words.facts.scopes.filter(({ archived }) => !archived);
    const nearest = (scopes: readonly SearchScope[]) =>
      query ? this.#meaning?.nearest(query, scopes, BY_MEANING) : undefined;
    const [facts, messages] = await Promise.all([nearest(live), nearest(words.messages.scopes)]);
    const floor = query?.model.floor ?? 0;
    return {
      facts: { matches: words.facts.matches, vectors: facts, floor },
      messages: { matches: words.messages.matches, vectors: messages, floor },
      wordsOnly: query !== null && (facts === undefined || messages === undefined),
    };
  }
}
