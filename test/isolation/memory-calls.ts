import { ArchiveRepository } from "../../src/chat/archive-repository.ts";
import { ImportRepository } from "../../src/chat/import-repository.ts";
import { MessageRepository } from "../../src/chat/message-repository.ts";
import { PlatformMessageRepository } from "../../src/chat/platform-repository.ts";
import { ChatRepository } from "../../src/chat/repository.ts";
import { SendingRepository } from "../../src/chat/sending-repository.ts";
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
import { inEachScope } from "./fact-calls.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const archive = new ArchiveRepository();
const chat = new ChatRepository();
const platform = new PlatformMessageRepository();
const imports = new ImportRepository();
const sending = new SendingRepository();
const kv = new KvRepository();
const recalls = new RecallRepository();
const EVER = { from: undefined, before: undefined, limit: 9 };
const EVERYTHING = { agents: ["atlas"], includeArchived: true };

const messageOf = (a: SeededOrg) =>
  ({
    ...personOf(a),
    ...platformOf(a),
    conversationId: "c",
    direction: "inbound",
    kind: "text",
    payload: "{}",
    forwarded: false,
    optedOut: false,
    searchDue: false,
    sentAt: NOON,
    archivedAt: NOON,
  }) as const;

/** Of the repositories of messages, entries and recall. */
export const MEMORY_CALLS: Readonly<Record<string, Calls>> = {
  MessageRepository: {
    find: nothing((a, mine, tx) => new MessageRepository().find(mine, a.message.id, tx)),
  },
  ArchiveRepository: {
    of: empty((a, mine, tx) => archive.of(mine, a.userId, EVER, tx)),
    ofNobody: empty((_, mine, tx) => archive.ofNobody(mine, EVER, tx)),
    withIds: empty((a, mine, tx) => archive.withIds(mine, [a.message.id], tx)),
    beside: empty((a, mine, tx) => {
      const later = { ...a.message, sentAt: FAR_FUTURE };
      return archive.beside(mine, later, "before", { whose: "all", limit: 9 }, tx);
    }),
    revisions: empty((a, mine, tx) => archive.revisions(mine, [a.message.id], tx)),
    delete: nothing((a, mine, tx) => archive.delete(mine, a.message.id, tx)),
  },
  ChatRepository: {
    noteUpdate: answers(true, (a, mine, tx) =>
      chat.noteUpdate(
        mine,
        { channel: "telegram", account: a.account, updateId: mine.orgId, receivedAt: NOON },
        tx,
      ),
    ),
    isNoted: answers(false, async (a, mine, tx) => {
      const update = { channel: "telegram", account: a.account, updateId: a.updateId };
      return chat.isNoted(mine, update, tx);
    }),
    insert: refused((a, mine, tx) => chat.insert(mine, messageOf(a), tx)),
    isArchived: answers(false, (a, mine, tx) => chat.isArchived(mine, platformOf(a), tx)),
    findForEdit: nothing((a, mine, tx) => chat.findForEdit(mine, platformOf(a), tx)),
    edit: answers(0, (a, mine, tx) =>
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
    ofTurn: answers({ messages: [], inbound: 0 }, (a, mine, tx) =>
      chat.ofTurn(mine, a.turn.id, 9, tx),
    ),
    optOut: empty((a, mine, tx) => chat.optOut(mine, a.turn.id, tx)),
    lastAnswer: nothing((a, mine, tx) =>
      chat.lastAnswer(mine, a.turn, { from: new Date(0), to: FAR_FUTURE }, tx),
    ),
    conversationOf: nothing((a, mine, tx) => chat.conversationOf(mine, a.message.id, tx)),
    history: empty((a, mine, tx) =>
      chat.history(mine, a.userId, { limit: 10, before: undefined }, tx),
    ),
    deleteSentBefore: withoutOrg(0, (_, __, tx) => chat.deleteSentBefore(FAR_FUTURE, 100, tx)),
    forgetUpdatesBefore: withoutOrg(0, (_, __, tx) => chat.forgetUpdatesBefore(FAR_FUTURE, tx)),
  },
  PlatformMessageRepository: {
    setDeliveryStatus: nothing((a, mine, tx) =>
      platform.setDeliveryStatus(mine, platformOf(a), "read", tx),
    ),
    find: empty((a, mine, tx) =>
      platform.find(mine, platformOf(a), [platformOf(a).platformMessageId], tx),
    ),
    ownersOf: empty((a, mine, tx) =>
      platform.ownersOf(mine, platformOf(a), [platformOf(a).platformMessageId], tx),
    ),
  },
  ImportRepository: {
    insert: refused((a, mine, tx) => imports.insert(mine, [messageOf(a)], tx)),
  },
  SendingRepository: {
    lastPlace: nothing((a, mine, tx) =>
      sending.lastPlace(
        mine,
        { userId: a.userId, identityId: null },
        [platformOf(a)],
        undefined,
        tx,
      ),
    ),
    setSent: answers(false, (a, mine, tx) =>
      sending.setSent(
        mine,
        a.message.id,
        {
          platformMessageId: "planted",
          conversationId: "c",
          sentAt: NOON,
          turnId: null,
          optedOut: true,
        },
        tx,
      ),
    ),
    setFailed: nothing((a, mine, tx) => sending.setFailed(mine, a.message.id, "{}", tx)),
    progress: empty((a, mine, tx) => sending.progress(mine, [a.message.id], tx)),
    unfinished: withoutOrg([], (_, __, tx) => sending.unfinished(FAR_FUTURE, 100, tx)),
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
    entries: empty((a, mine, tx) => kv.entries(mine, a.userId, { limit: 9 }, tx)),
    usage: answers({ keys: 0, bytes: 0 }, (a, mine, tx) => kv.usage(mine, a.userId, tx)),
    delete: answers(0, (a, mine, tx) => kv.delete(mine, a.userId, ["colour"], tx)),
  },
  RecallRepository: {
    settled: answers(
      { memory: { enabled: true, offShare: 0 }, rules: null, overlay: null },
      (a, mine, tx) => recalls.settled(mine, { storeId: a.storeId, asOf: FAR_FUTURE }, tx),
    ),
    standing: empty((a, mine, tx) =>
      inEachScope(a, mine, (scope) => recalls.standing([scope], EVERYTHING, 100, tx)),
    ),
    claims: empty((a, mine, tx) =>
      inEachScope(a, mine, (scope) =>
        recalls.claims([scope], Object.values(a.facts), EVERYTHING, tx),
      ),
    ),
    places: empty((a, mine, tx) => recalls.places(mine, a.userId, [a.message.id], {}, tx)),
    messages: empty((a, mine, tx) => recalls.messages(mine, a.userId, [a.message.id], {}, tx)),
  },
};
