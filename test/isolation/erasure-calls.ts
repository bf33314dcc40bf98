import { EMPTY_REPORT } from "../../src/erasure/erasure.ts";
import { LedgerRepository } from "../../src/erasure/ledger-repository.ts";
import { OrgErasureRepository } from "../../src/erasure/org-repository.ts";
import { ErasureRepository, type Said } from "../../src/erasure/repository.ts";
import { ScanRepository } from "../../src/erasure/scan-repository.ts";
import type { FactScope } from "../../src/facts/row.ts";
import { FactScopeRepository } from "../../src/facts/scope-repository.ts";
import { answers, type Calls, empty, nothing, withoutOrg } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const ledger = new LedgerRepository();
const rows = new ErasureRepository();
const orgRows = new OrgErasureRepository();
const scans = new ScanRepository();
const scopes = new FactScopeRepository();

interface Org {
  readonly orgId: string;
}
const saidBy = (a: SeededOrg): Said[] => [
  { userIds: [a.userId] },
  { storeId: a.storeId },
  { ids: [a.message.id] },
  { channel: "telegram", account: a.account, conversationId: a.message.conversationId },
];
const scopesOf = (a: SeededOrg, { orgId }: Org): FactScope[] => [
  { name: "store", orgId, storeId: a.storeId },
  { name: "user", orgId, userId: a.userId },
];
async function all<T, R>(of: readonly T[], call: (one: T) => Promise<R>): Promise<R[]> {
  const found: R[] = [];
  for (const one of of) found.push(await call(one));
  return found;
}
const sum = async (counts: Promise<(number | object)[]>) =>
  (await counts).reduce<number>(
    (total, count) =>
      total +
      (typeof count === "number"
        ? count
        : Object.values(count as Record<string, number>).reduce((a, b) => a + b, 0)),
    0,
  );
const wantedOf = (a: SeededOrg) => ({ ids: [a.userId], names: ["x"], salt: "", hashes: ["x"] });

/** Erasing, and what looks whether anything is left. */
export const ERASURE_CALLS: Readonly<Record<string, Calls>> = {
  LedgerRepository: {
    append: answers(1, async (a, mine, tx) => {
      const entry = { id: mine.orgId, kind: "user", subjectId: a.userId, state: "erased" } as const;
      const content = { requestedBy: "x", report: EMPTY_REPORT, work: {}, at: NOON };
      return (await ledger.append(mine, { ...entry, ...content }, tx)).position;
    }),
    lock: nothing((_, mine, tx) => ledger.lock(mine, tx)),
    find: nothing((a, mine, tx) => ledger.find(mine, a.page.erasure.id, tx)),
    findOrphan: withoutOrg(undefined, (a, _, tx) => ledger.findOrphan(a.page.erasure.id, tx)),
    findOpen: nothing((a, mine, tx) =>
      ledger.findOpen(mine, { kind: "user", subjectId: a.orgId }, tx),
    ),
    list: empty((_, mine, tx) => ledger.list(mine, { before: undefined, limit: 9 }, tx)),
    following: empty((_, mine, tx) => ledger.following(mine, { after: 0, limit: 9 }, tx)),
    update: nothing((a, mine, tx) =>
      ledger.update(mine, a.page.erasure.id, { state: "failed" }, tx),
    ),
    seal: nothing((a, mine, tx) =>
      ledger.seal(mine, { id: a.page.erasure.id, previousHash: null, hash: "x" }, tx),
    ),
    inStates: withoutOrg([], (_, __, tx) => ledger.inStates(["erasing", "erased"], 9, tx)),
  },
  ErasureRepository: {
    countMessages: answers(0, (a, mine, tx) =>
      sum(all(saidBy(a), (said) => rows.countMessages(mine, said, tx))),
    ),
    messages: empty(async (a, mine, tx) =>
      (await all(saidBy(a), (said) => rows.messages(mine, said, 9, tx))).flat(),
    ),
    longTexts: empty(async (a, mine, tx) =>
      (await all(saidBy(a), (said) => rows.longTexts(mine, said, tx))).flat(),
    ),
    messagesOfNobody: empty((_, mine, tx) =>
      rows.messagesOfNobody(mine, { channel: "telegram", externalIds: ["1234567"] }, 9, tx),
    ),
    sourcesAmong: empty((a, mine, tx) => rows.sourcesAmong(mine, [a.message.id], tx)),
    deleteMessages: answers(0, (a, mine, tx) =>
      sum(all([[a.message.id]], (ids) => rows.deleteMessages(mine, ids, tx))),
    ),
    deleteCalls: answers(0, (a, mine, tx) =>
      sum(all([[a.facts.user]], (ids) => rows.deleteCalls(mine, ids, tx))),
    ),
    deleteTurns: answers(0, (a, mine, tx) =>
      sum(all(saidBy(a), (said) => rows.deleteTurns(mine, said, tx))),
    ),
    clearAudit: answers(0, (a, mine, tx) =>
      sum(all([[a.userId]], (ids) => rows.clearAudit(mine, ids, tx))),
    ),
    deletePeople: answers(0, (a, mine, tx) =>
      sum(all([[a.userId]], (ids) => rows.deletePeople(mine, ids, tx))),
    ),
    holdStore: answers(false, (a, mine, tx) => rows.holdStore(mine, a.storeId, tx)),
    deleteStore: answers(0, (a, mine, tx) =>
      sum(all([a.storeId], (id) => rows.deleteStore(mine, id, tx))),
    ),
    vectorsWaiting: answers(0, (_, mine, tx) => rows.vectorsWaiting(mine, tx)),
  },
  OrgErasureRepository: {
    tables: answers(true, async (_, __, tx) => (await orgRows.tables(tx)).includes("users")),
    deleteSome: answers(0, async (_, mine, tx) =>
      sum(all(await orgRows.tables(tx), (table) => orgRows.deleteSome(mine, table, 99, tx))),
    ),
    hold: answers(true, (_, mine, tx) => orgRows.hold(mine, tx)),
    delete: answers(1, (_, mine, tx) => orgRows.delete(mine, tx)),
  },
  ScanRepository: {
    tables: answers(true, async (_, __, tx) => (await scans.tables(tx)).length > 20),
    look: withoutOrg([], async (a, _, tx) => {
      const users = (await scans.tables(tx)).find(({ name }) => name === "users");
      if (!users) throw new Error("there are people");
      const found = await scans.look(users, { from: 0, to: 99 }, wantedOf(a), tx);
      return Object.values(found).flatMap(Object.keys);
    }),
  },
  FactScopeRepository: {
    slots: empty(async (a, mine, tx) =>
      (await all(scopesOf(a, mine), (scope) => scopes.slots(scope, 9, tx))).flat(),
    ),
    rows: empty(async (a, mine, tx) => {
      const slots = [{ agentId: "atlas", key: "secret.plan" }];
      return (await all(scopesOf(a, mine), (scope) => scopes.rows(scope, slots, tx))).flat();
    }),
    deleteDecisions: answers(0, (a, mine, tx) =>
      sum(all(scopesOf(a, mine), (scope) => scopes.deleteDecisions(scope, tx))),
    ),
    clearEvents: answers(0, (a, mine, tx) =>
      sum(all(scopesOf(a, mine), (scope) => scopes.clearEvents(scope, 9, tx))),
    ),
    clearOrphanedEvents: answers(0, (_, mine, tx) => scopes.clearOrphanedEvents(mine, tx)),
  },
};
