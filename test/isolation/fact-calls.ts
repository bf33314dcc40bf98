import { v7 } from "uuid";
import { FactKeyRepository } from "../../src/facts/key-repository.ts";
import { FactRepository } from "../../src/facts/repository.ts";
import type { FactScope, StoredFact } from "../../src/facts/row.ts";
import { answers, type Calls, empty, FAR_FUTURE, nothing, refused, withoutOrg } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const facts = new FactRepository();
const keys = new FactKeyRepository();

interface Org {
  readonly orgId: string;
}

const scopesOf = (a: SeededOrg, { orgId }: Org): FactScope[] => [
  { name: "org", orgId },
  { name: "store", orgId, storeId: a.storeId },
  { name: "user", orgId, userId: a.userId },
];

/** The same question in each of the three tables of facts, answers joined. */
export const inEachScope = async <T>(
  a: SeededOrg,
  mine: Org,
  ask: (scope: FactScope) => Promise<readonly T[] | undefined>,
): Promise<T[]> => {
  const answers: T[] = [];
  for (const scope of scopesOf(a, mine)) answers.push(...((await ask(scope)) ?? []));
  return answers;
};

const factIds = (a: SeededOrg) => Object.values(a.facts);
const slot = { agentId: "atlas", key: "secret.plan" };
const userScope = (a: SeededOrg, { orgId }: Org) =>
  ({ name: "user", orgId, userId: a.userId }) as const;

const STATE: StoredFact["state"] = {
  consolidatedAt: NOON,
  mergedInto: null,
  archivedAt: NOON,
  archivedReason: "archived",
  supersededBy: null,
  pinned: true,
  contested: true,
  confirmationCount: 9,
  claimConfidence: 1,
  claimTags: ["planted"],
  claimTier: "core",
  claimHalfLifeDays: 1,
  lastConfirmedAt: NOON,
  fadesAt: NOON,
  expiresAt: NOON,
};
const newFact = ({ identity }: SeededOrg) => ({
  ...slot,
  id: v7(),
  value: "planted",
  searchText: "planted",
  confidence: 1,
  tags: [],
  tier: "core" as const,
  halfLifeDays: 1,
  ttlDays: null,
  reasoning: null,
  sourceMessageId: "another message",
  sourceReason: null,
  conversation: null,
  writtenBy: "intruder",
  observedAt: NOON,
  createdAt: NOON,
  withdrawnAt: null,
  state: STATE,
  identityId: identity.id,
});

/** Of the repositories of facts. */
export const FACT_CALLS: Readonly<Record<string, Calls>> = {
  FactRepository: {
    insert: refused((a, mine, tx) => facts.insert(userScope(a, mine), newFact(a), tx)),
    insertAll: refused((a, mine, tx) => facts.insertAll(userScope(a, mine), [newFact(a)], tx)),
    findBySource: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const source = { ...slot, sourceMessageId: a.turnMessageId };
        const row = await facts.findBySource(scope, source, tx);
        return row && [row];
      }),
    ),
    values: empty((a, mine, tx) =>
      inEachScope(a, mine, ({ name }) => facts.values(mine, name, factIds(a), tx)),
    ),
    find: empty(async (a, mine, tx) => {
      const found = [];
      for (const id of factIds(a)) found.push(await facts.find(mine, id, tx));
      return found.filter((row) => row !== undefined);
    }),
    findByMessages: empty((a, mine, tx) => facts.findByMessages(mine, [a.turnMessageId], tx)),
    identityOf: answers(null, (a, mine, tx) => facts.identityOf(mine, a.facts.user, tx)),
    withdraw: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await facts.withdraw(scope, factIds(a), FAR_FUTURE, tx);
        return [];
      }),
    ),
    delete: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await facts.delete(scope, factIds(a), tx);
        return [];
      }),
    ),
    addEvents: nothing((a, mine, tx) => {
      const by = { actor: "x", agentId: "x", reason: "x", at: NOON };
      const event = { kind: "deleted", factId: a.facts.user, ...by } as const;
      return facts.addEvents(userScope(a, mine), [event], tx);
    }),
    events: empty((a, mine, tx) => facts.events(mine, factIds(a), tx)),
    scrubEvents: nothing((a, mine, tx) => facts.scrubEvents(mine, factIds(a), tx)),
    oldValues: empty((a, mine, tx) => facts.oldValues(mine, factIds(a), tx)),
    scrubOldValues: nothing((a, mine, tx) => facts.scrubOldValues(mine, factIds(a), tx)),
  },
  FactKeyRepository: {
    lock: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await keys.lock({ keys: [{ scope, ...slot }] }, tx);
        return [];
      }),
    ),
    histories: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const { orgId, name } = scope;
        const asked = { orgId, name, keys: [{ scope, ...slot }] };
        const [all] = await keys.histories(asked, undefined, tx);
        const [some] = await keys.histories(asked, 5, tx);
        return [all, some].flatMap((found) => [
          ...(found?.rows ?? []),
          ...(found?.decisions ?? []),
        ]);
      }),
    ),
    decide: refused((a, mine, tx) => {
      const scope = userScope(a, mine);
      const decision = { kind: "archive", factId: a.facts.user, actor: "x", at: NOON } as const;
      return keys.decide({ scope, ...slot }, { ...decision, replacedBy: null }, tx);
    }),
    apply: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const states = new Map(factIds(a).map((id) => [id, STATE]));
        const among = { ...mine, name: scope.name, keys: [{ scope, ...slot }] };
        await keys.apply(among, states, tx);
        return [];
      }),
    ),
    due: withoutOrg([], (a, mine, tx) =>
      inEachScope(a, mine, ({ name }) =>
        keys.due(name, { now: FAR_FUTURE, only: "all", limit: 9 }, tx),
      ),
    ),
  },
};
