import { v7 } from "uuid";
import { EmbeddingRepository } from "../../src/search/embedding-repository.ts";
import { MatchRepository } from "../../src/search/match-repository.ts";
import { SearchMessageRepository } from "../../src/search/message-repository.ts";
import { SearchRepository } from "../../src/search/repository.ts";
import { answers, type Calls, empty, nothing, REFUSED, refused, withoutOrg } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const documents = new SearchRepository();
const messages = new SearchMessageRepository();
const models = new EmbeddingRepository();
const matches = new MatchRepository();

const idsOf = (a: SeededOrg) => [...Object.values(a.facts), a.message.id];
const SCOPES = Array.from({ length: 50 }, (_, id) => id + 1);
const scopeOf = ({ userId }: SeededOrg) => ({
  kind: "user" as const,
  storeId: null,
  userId,
  agentId: "atlas",
  archived: false,
});
/** Their scope under our name; no document has a vector of this model. */
const scopeAs = ({ vectors }: SeededOrg, mine: { orgId: string }) => ({
  ...vectors.scope,
  ...mine,
});
const NO_MODEL = 0;
const MODEL = { fingerprint: "planted", vectorIndex: "postgres" } as const;
const TOTALS = { documents: 1, length: 1, contextLength: 1 };

/** Of the repositories of the index of words. */
export const SEARCH_CALLS: Readonly<Record<string, Calls>> = {
  SearchRepository: {
    find: empty((a, mine, tx) => documents.find(mine, idsOf(a), tx)),
    change: refused((a, mine, tx) =>
      documents.change(mine, [{ scope: scopeOf(a), ...TOTALS, embedDue: false }], tx),
    ),
    write: refused((a, mine, tx) =>
      documents.write(
        mine,
        [
          {
            ...{ id: v7(), scope: scopeOf(a), scopeId: 1, contextId: null, postings: [] },
            ...{ length: 1, contextLength: 1, tokens: 1, textHash: "", wordsHash: "" },
          },
        ],
        tx,
      ),
    ),
    delete: nothing((a, mine, tx) => documents.delete(mine, idsOf(a), tx)),
    deleteWords: nothing((a, mine, tx) => documents.deleteWords(mine, idsOf(a), tx)),
    setCounted: nothing((_, mine, tx) => documents.setCounted(mine, SCOPES, tx)),
    recount: nothing((_, mine, tx) => documents.recount(mine, SCOPES, tx)),
    setIndexed: nothing((a, mine, tx) => documents.setIndexed(mine, idsOf(a), tx)),
  },
  SearchMessageRepository: {
    lock: nothing((a, mine, tx) => messages.lock(mine, [a.userId], tx)),
    dueOf: empty((a, mine, tx) => messages.dueOf(mine, [a.userId], 100, tx)),
    affected: empty((a, mine, tx) => messages.affected(mine, [a.message.id], tx)),
    due: withoutOrg([], (_, __, tx) => messages.due(v7(), 9, tx)),
  },
  EmbeddingRepository: {
    use: withoutOrg(REFUSED, (_, __, tx) =>
      models.use({ ...MODEL, dimensions: 2, floor: 0, mergeThreshold: 1 }, NOON, tx),
    ),
    isInUse: withoutOrg(true, (a, _, tx) => models.isInUse(a.vectors.model.id, tx)),
    finish: withoutOrg(REFUSED, (a, _, tx) => models.finish(a.vectors.model.id, tx)),
    remove: withoutOrg(REFUSED, (a, _, tx) => models.remove(a.vectors.model.id, tx)),
    retired: withoutOrg([], (_, __, tx) => models.retired(tx)),
    due: withoutOrg([], (_, __, tx) => models.due(0, 99, tx)),
    waiting: withoutOrg(0, (_, __, tx) => models.waiting(tx)),
    batch: empty((a, mine, tx) => models.batch(scopeAs(a, mine), NO_MODEL, 99, tx)),
    note: nothing((a, mine, tx) => models.note(scopeAs(a, mine), NO_MODEL, a.vectors.embedded, tx)),
    settle: answers(false, (a, mine, tx) =>
      models.settle(scopeAs(a, mine), a.vectors.model.id, tx),
    ),
    wantMessages: answers(false, (_, mine, tx) => models.wantMessages(mine, SCOPES, tx)),
  },
  MatchRepository: {
    scopes: empty((a, mine, tx) =>
      matches.scopes(
        [
          { name: "user", ...mine, userId: a.userId },
          { name: "org", ...mine },
        ],
        ["atlas"],
        tx,
      ),
    ),
    match: empty(async (a, mine, tx) => {
      const scopes = SCOPES.map((id) => ({
        ...{ ...scopeOf(a), ...TOTALS, ...mine, id, embedMessages: false },
      }));
      return (await matches.match(scopes, ["plan", "secret"], 9, tx)).hits;
    }),
  },
};
