import type { Tx } from "../db/tenant.ts";
import type { Claim } from "../facts/claims.ts";
import type { Key } from "../facts/key.ts";
import { isLive } from "../facts/life.ts";
import type { FactScope } from "../facts/row.ts";
import { tokenCounter } from "../recall/tokens.ts";
import { queryTerms } from "./analysis.ts";
import { factContent, messageContent } from "./document.ts";
import type { Matches, MatchRepository } from "./match-repository.ts";
import type { SearchMessageRepository } from "./message-repository.ts";
import type { NewDocument, SearchRepository, StoredDocument } from "./repository.ts";
import { factScopeName, messageScopeName, nameOfScope, type SearchScope } from "./scope.ts";
import { changesOf, differenceOf } from "./writing.ts";

export type { Matches } from "./match-repository.ts";

/** Messages indexed anew in the transaction of a deletion. */
const PAGE = 200;
/** Bounds the terms of a query, and with them the work. */
const MAX_QUERY_TERMS = 32;

interface Org {
  readonly orgId: string;
}

/** A key with what its fold says now. */
export interface FoldedKey {
  readonly key: Key;
  readonly claims: readonly Claim[];
}

export interface SearchDependencies {
  readonly documents: SearchRepository;
  readonly messages: SearchMessageRepository;
  readonly matches: MatchRepository;
  /** Told that documents wait for a vector, where somebody makes vectors. */
  readonly onWaiting?: ((org: Org, tx: Tx) => Promise<void>) | undefined;
}

/** Words of facts and messages, kept as these are written and searched by BM25. */
export class SearchIndex {
  readonly #deps: SearchDependencies;

  constructor(deps: SearchDependencies) {
    this.#deps = deps;
  }

  /**
   * Makes the index know keys of one org as their folds have them; what is the same already costs one query. The caller
   * holds the keys' locks. Deleted facts take their documents with them.
   */
  async indexClaims(org: Org, folded: readonly FoldedKey[], tx: Tx): Promise<void> {
    if (folded.every(({ claims }) => claims.length === 0)) return;
    const count = await tokenCounter();
    const wanted = folded.flatMap(({ key, claims }) =>
      claims.map(
        (claim): NewDocument => ({
          ...factContent(key.scope.name, claim, count),
          id: claim.factId,
          scope: factScopeName(key.scope, key.agentId, !isLive(claim.state)),
          contextId: null,
        }),
      ),
    );
    const rows = folded.flatMap(({ claims }) => claims.flatMap(({ rows: of }) => of));
    const ids = [...new Set(rows.map(({ id }) => id))];
    await this.#write(org, await this.#deps.documents.find(org, ids, tx), wanted, tx);
  }

  /**
   * Makes the index know messages as the archive has them now, and those that are searched together with one of them: to
   * be called when one is archived, edited or opted out, by whoever holds these people's messages (`holdPeople`).
   */
  async indexMessages(org: Org, ids: readonly string[], tx: Tx): Promise<void> {
    if (ids.length === 0) return;
    const { documents, messages } = this.#deps;
    const count = await tokenCounter();
    const affected = await messages.affected(org, ids, tx);
    const wanted = affected.flatMap((message): NewDocument[] => {
      if (message.userId === null) return [];
      const { id, contextId } = message;
      const scope = messageScopeName(message.userId, message.storeId);
      return [{ ...messageContent(message, count), id, contextId, scope }];
    });
    const known = affected.map(({ id }) => id);
    await this.#write(org, await documents.find(org, known, tx), wanted, tx);
    await documents.setIndexed(org, known, tx);
  }

  /** From now on nobody else writes these people's messages. First of all: a row that is held already could be waited for. */
  async holdPeople(org: Org, userIds: readonly string[], tx: Tx): Promise<void> {
    if (userIds.length > 0) await this.#deps.messages.lock(org, userIds, tx);
  }

  /** Indexes anew what was searched with messages that were just deleted; what is beyond a page is left to the job. */
  async indexAfterDeletion(org: Org, userIds: readonly string[], tx: Tx): Promise<void> {
    if (userIds.length === 0) return;
    await this.indexMessages(org, await this.#deps.messages.dueOf(org, userIds, PAGE, tx), tx);
  }

  /** What can be searched of these scopes of one org: facts of the pockets, live and archived, and the person's messages. */
  async scopes(
    scopes: readonly FactScope[],
    agents: readonly string[],
    tx: Tx,
  ): Promise<{ facts: readonly SearchScope[]; messages: readonly SearchScope[] }> {
    const found = await this.#deps.matches.scopes(scopes, agents, tx);
    return {
      facts: found.filter(({ kind }) => kind !== "message"),
      messages: found.filter(({ kind }) => kind === "message"),
    };
  }

  /** The documents of scopes of one org that answer a query best by its words. @throws nothing for whatever it holds */
  match(scopes: readonly SearchScope[], query: string, limit: number, tx: Tx): Promise<Matches> {
    const terms = queryTerms(query).slice(0, MAX_QUERY_TERMS);
    return this.#deps.matches.match(scopes, terms, limit, tx);
  }

  async #write(
    org: Org,
    stored: readonly StoredDocument[],
    wanted: readonly NewDocument[],
    tx: Tx,
  ): Promise<void> {
    const { documents } = this.#deps;
    const difference = differenceOf(stored, wanted);
    const changes = changesOf(difference);
    if (changes.length === 0) return;
    const locked = await documents.change(org, changes, tx);
    const scopeId = (document: NewDocument) => {
      const scope = locked.get(nameOfScope(document.scope));
      if (!scope) throw new Error("a scope that was just written is not there");
      return scope.id;
    };
    const { gone, fresh, reworded } = difference;
    await documents.delete(
      org,
      gone.map(({ id }) => id),
      tx,
    );
    await documents.deleteWords(
      org,
      reworded.map(({ next }) => next.id),
      tx,
    );
    const written = [...fresh, ...reworded.map(({ next }) => next)];
    await documents.write(
      org,
      written.map((document) => ({ ...document, scopeId: scopeId(document) })),
      tx,
    );
    const due = [...locked.values()].filter(({ recountDue }) => recountDue).map(({ id }) => id);
    await documents.recount(org, due, tx);
    // These deletions are in the totals already.
    const counted = gone.map((document) => document.scopeId).filter((id) => !due.includes(id));
    await documents.setCounted(org, [...new Set(counted)], tx);
    if (fresh.length > 0 && [...locked.values()].some(({ embedDue }) => embedDue)) {
      await this.#deps.onWaiting?.(org, tx);
    }
  }
}
