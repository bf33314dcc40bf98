import { OverviewRepository } from "../../src/overview/repository.ts";
import { answers, type Calls, empty, FAR_FUTURE, nothing, withoutOrg } from "./call.ts";
import { NOON } from "./seeded-org.ts";

const overview = new OverviewRepository();
const NOBODY = { people: 0, messages: 0, entries: 0, facts: [] };

/** Of what counts over the tables of every domain. */
export const OVERVIEW_CALLS: Readonly<Record<string, Calls>> = {
  OverviewRepository: {
    orgIds: withoutOrg([], async (a, _, tx) =>
      (await overview.orgIds(tx)).filter((id) => id === a.orgId),
    ),
    days: empty((_, mine, tx) => overview.days(mine, new Date(0), tx)),
    save: nothing((_, mine, tx) => overview.save(mine, { countedAt: NOON, counts: NOBODY }, tx)),
    isSmall: answers(true, (_, mine, tx) => overview.isSmall(mine, tx)),
    count: answers(NOBODY, (_, mine, tx) => overview.count(mine, FAR_FUTURE, tx)),
    waiting: answers(
      { contradictions: 0, duplicates: 0, pendingPeople: 0, corrections: 0, deadLetters: 0 },
      (_, mine, tx) => overview.waiting(mine, NOON, tx),
    ),
    person: answers({ messages: 0, entries: 0, facts: [] }, (a, { orgId }, tx) =>
      overview.person({ orgId, userId: a.userId }, NOON, tx),
    ),
  },
};
