import { ChatRepository } from "../../src/chat/repository.ts";
import { FactRepository } from "../../src/facts/repository.ts";
import type { FactScope } from "../../src/facts/row.ts";
import { KvRepository } from "../../src/kv/repository.ts";
import { RecallRepository } from "../../src/recall/repository.ts";
import {
  answers,
  type Calls,
  empty,
  FAR_FUTURE,
  nothing,
  personOf,
  platformOf,
  refused,
  withoutOrg,
} from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const chat = new ChatRepository();
const facts = new FactRepository();
const kv = new KvRepository();
const recalls = new RecallRepository();

const scopesOf = (a: SeededOrg, { orgId }: { orgId: string }): FactScope[] => [
  { name: "org", orgId },
  { name: "store", orgId, storeId: a.storeId },
  { name: "user", orgId, userId: a.userId },
];
/** The same question in each of the three tables of facts, answers joined. */
const inEachScope = async <T>(
  a: SeededOrg,
  mine: { orgId: string },
  ask: (scope: FactScope) => Promise<readonly T[] | undefined>,
): Promise<T[]> => {
  const answers: T[] = [];
  for (const scope of scopesOf(a, mine)) answers.push(...((await ask(scope)) ?? []));
  return answers;
};
const factIds = (a: SeededOrg) => Object.values(a.facts);
const slot = { agentId: "atlas", key: "secret.plan" };
const newFact = ({ identity }: SeededOrg) => ({
  agentId: "atlas",
  key: "secret.plan",
  value: "planted",
  searchText: "planted",
  confidence: 1,
  tags: [],
  tier: "core" as const,
  halfLifeDays: 1,
  ttlDays: null,
  reasoning: null,
  sourceMessageId: "another message",
  writtenBy: "intruder",
  observedAt: NOON,
  createdAt: NOON,
  expiresAt: null,
  identityId: identity.id,
});

/** Of the repositories of messages, entries and facts. */
export const MEMORY_CALLS: Readonly<Record<string, Calls>> = {
  ChatRepository: {
    noteUpdate: answers(true, (a, mine, tx) =>
      chat.noteUpdate(
        mine,
        { channel: "telegram", account: a.account, updateId: mine.orgId, receivedAt: NOON },
        tx,
      ),
    ),
    insert: refused((a, mine, tx) =>
      chat.insert(
        mine,
        {
          ...personOf(a),
          ...platformOf(a),
          conversationId: "c",
          direction: "inbound",
          kind: "text",
          payload: "{}",
          sentAt: NOON,
          archivedAt: NOON,
        },
        tx,
      ),
    ),
    findForEdit: nothing((a, mine, tx) => chat.findForEdit(mine, platformOf(a), tx)),
    edit: nothing((a, mine, tx) =>
      chat.edit(
        mine,
        a.message.id,
        { kind: "text", text: "x", payload: "{}", editedAt: NOON, optedOut: true, at: NOON },
        tx,
      ),
    ),
    revisions: empty((a, mine, tx) => chat.revisions(mine, a.message.id, tx)),
    delete: empty((a, mine, tx) =>
      chat.delete(mine, platformOf(a), [platformOf(a).platformMessageId], tx),
    ),
    history: empty((a, mine, tx) =>
      chat.history(mine, a.userId, { limit: 10, before: undefined }, tx),
    ),
    deleteSentBefore: withoutOrg(0, (_, __, tx) => chat.deleteSentBefore(FAR_FUTURE, 100, tx)),
    forgetUpdatesBefore: withoutOrg(0, (_, __, tx) => chat.forgetUpdatesBefore(FAR_FUTURE, tx)),
  },
  FactRepository: {
    lockSlot: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await facts.lockSlot(scope, slot, tx);
        return [];
      }),
    ),
    insert: refused((a, mine, tx) =>
      facts.insert({ name: "user", ...mine, userId: a.userId }, newFact(a), tx),
    ),
    findBySource: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const row = await facts.findBySource(
          scope,
          { ...slot, sourceMessageId: a.turnMessageId },
          tx,
        );
        return row && [row];
      }),
    ),
    liveRows: empty((a, mine, tx) =>
      inEachScope(a, mine, (scope) => facts.liveRows(scope, slot, tx)),
    ),
    valuesOfSlot: empty((a, mine, tx) =>
      inEachScope(a, mine, (scope) => facts.valuesOfSlot(scope, slot, tx)),
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
    archive: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await facts.archive(scope, factIds(a), NOON, tx);
        return [];
      }),
    ),
    delete: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        await facts.delete(scope, factIds(a), tx);
        return [];
      }),
    ),
    addEvents: nothing((a, mine, tx) =>
      facts.addEvents(
        { name: "user", ...mine, userId: a.userId },
        [
          {
            kind: "deleted",
            factId: a.facts.user,
            actor: "x",
            agentId: "x",
            reason: "x",
            at: NOON,
          },
        ],
        tx,
      ),
    ),
    events: empty((a, mine, tx) => facts.events(mine, factIds(a), tx)),
    scrubEvents: nothing((a, mine, tx) => facts.scrubEvents(mine, factIds(a), tx)),
    oldValues: empty((a, mine, tx) => facts.oldValues(mine, factIds(a), tx)),
    scrubOldValues: nothing((a, mine, tx) => facts.scrubOldValues(mine, factIds(a), tx)),
  },
  KvRepository: {
    upsert: refused((a, mine, tx) =>
      kv.upsert(
        mine,
        personOf(a),
        [{ key: "colour", value: '"theirs"', bytes: 8 }],
        { keyId: "x", agentId: "x", at: FAR_FUTURE },
        tx,
      ),
    ),
    usage: answers({ keys: 0, bytes: 0 }, (a, mine, tx) => kv.usage(mine, a.userId, tx)),
    delete: answers(0, (a, mine, tx) => kv.delete(mine, a.userId, ["colour"], tx)),
  },
  RecallRepository: {
    facts: empty((a, mine, tx) =>
      inEachScope(a, mine, async (scope) => {
        const filter = { agents: ["atlas"], includeArchived: true };
        const listed = await recalls.facts(scope, filter, tx);
        return [...listed, ...(await recalls.facts(scope, { ...filter, fragments: ["plan"] }, tx))];
      }),
    ),
    messages: empty((a, mine, tx) => recalls.messages(mine, a.userId, {}, tx)),
  },
};
