import { v7 } from "uuid";
import { SourceRepository } from "../../src/chat/source-repository.ts";
import { DuplicateRepository } from "../../src/facts/duplicate-repository.ts";
import { ListingRepository } from "../../src/facts/listing-repository.ts";
import { OrgReviewRepository } from "../../src/facts/org-review-repository.ts";
import { answers, type Calls, empty } from "./call.ts";
import { inEachScope } from "./fact-calls.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const lists = new ListingRepository();
const reviews = new OrgReviewRepository();
const duplicates = new DuplicateRepository();
const sources = new SourceRepository();

const EVERYTHING = { userId: undefined, storeId: undefined, agents: undefined };
const wanted = { words: [], agents: undefined, now: NOON, limit: 9 };
const newest = { now: NOON, before: undefined, limit: 9 };
const factIds = (a: SeededOrg) => Object.values(a.facts);

/** Of the repositories of what people look through. */
export const REVIEW_CALLS: Readonly<Record<string, Calls>> = {
  ListingRepository: {
    strongest: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const from = { at: NOON, floor: undefined, after: undefined };
        const all = await lists.strongest(scope, wanted, from, tx);
        const sorted = await lists.strongest(scope, { ...wanted, contested: true }, from, tx);
        const searched = await lists.strongest(scope, { ...wanted, words: ["plan"] }, from, tx);
        return [all, sorted, searched].flatMap(({ found, lookedTo }) => [
          ...found,
          ...(lookedTo ? [lookedTo] : []),
        ]);
      }),
    ),
    archived: empty((a, mine, tx) =>
      inEachScope(a, mine, (scope) => lists.archived(scope, wanted, undefined, tx)),
    ),
  },
  OrgReviewRepository: {
    contested: empty((a, mine, tx) =>
      inEachScope(a, mine, ({ name }) => reviews.contested(mine, name, EVERYTHING, newest, tx)),
    ),
    watch: empty((a, mine, tx) =>
      inEachScope(a, mine, ({ name }) =>
        reviews.watch(mine, name, EVERYTHING, { ...newest, site: undefined }, tx),
      ),
    ),
  },
  DuplicateRepository: {
    comparable: empty((a, mine, tx) =>
      inEachScope(a, mine, async ({ name }) => [
        ...(await duplicates.comparable(mine, name, factIds(a), tx)).keys(),
      ]),
    ),
    // Documents of another org are none of its own, so that there is nothing to pair.
    add: answers(undefined, (a, mine, tx) => {
      const [firstId = "", secondId = v7()] = [a.facts.org, a.facts.store].toSorted();
      return duplicates.add(mine, [{ firstId, secondId, likeness: 1 }], NOON, tx);
    }),
    open: empty((_, mine, tx) => duplicates.open(mine, undefined, 9, tx)),
    dismiss: answers(false, (a, mine, tx) => {
      const by = { dismissedAt: NOON, dismissedBy: "intruder" };
      return duplicates.dismiss(mine, a.page.duplicates, by, tx);
    }),
    claims: empty(async (a, mine, tx) => [
      ...(await duplicates.claims(mine, factIds(a), tx)).keys(),
    ]),
  },
  SourceRepository: {
    ofIds: empty((a, mine, tx) => sources.ofIds(mine, [a.turnMessageId, a.message.id], tx)),
  },
};
