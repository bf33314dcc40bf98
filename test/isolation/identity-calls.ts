import { KeyRepository } from "../../src/access/repository.ts";
import { SessionRepository } from "../../src/access/session-repository.ts";
import { DeliveryRepository } from "../../src/channels/delivery-repository.ts";
import { OutboxRepository } from "../../src/channels/outbox-repository.ts";
import { ChannelRepository } from "../../src/channels/repository.ts";
import { IdempotencyRepository } from "../../src/idempotency/repository.ts";
import { JobLeases } from "../../src/jobs/leases.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import { JobRepository } from "../../src/jobs/repository.ts";
import { OrgRepository } from "../../src/orgs/repository.ts";
import { ContextRepository } from "../../src/users/context.ts";
import { NewcomerRepository } from "../../src/users/newcomer-repository.ts";
import { PeopleRepository } from "../../src/users/people-repository.ts";
import { UserRepository } from "../../src/users/repository.ts";
import {
  answers,
  type Calls,
  empty,
  externalOf,
  FAR_FUTURE,
  nothing,
  personOf,
  REFUSED,
  refused,
  withoutOrg,
} from "./call.ts";
import { NOON } from "./seeded-org.ts";

const LONG_AGO = new Date("2000-01-01T00:00:00Z");

const keys = new KeyRepository();
const sessions = new SessionRepository();
const channels = new ChannelRepository();
const outbox = new OutboxRepository();
const deliveries = new DeliveryRepository();
const calls = new IdempotencyRepository();
const jobs = new JobQueue();
const leases = new JobLeases();
const jobRows = new JobRepository();
const orgs = new OrgRepository();
const contexts = new ContextRepository();
const users = new UserRepository();
const newcomers = new NewcomerRepository();
const people = new PeopleRepository();

const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Of the repositories of orgs, people, keys, channels and calls. */
export const IDENTITY_CALLS: Readonly<Record<string, Calls>> = {
  KeyRepository: {
    findActive: withoutOrg(undefined, (a, _, tx) => keys.findActive(a.key.hash, tx)),
    noteUse: withoutOrg(undefined, (a, _, tx) =>
      keys.noteUse(a.key.id, FAR_FUTURE, FAR_FUTURE, tx),
    ),
    insert: nothing((a, mine, tx) =>
      keys.insert(
        mine,
        { name: "stolen", role: "owner", hash: a.key.hash, defaultAgent: "x", createdAt: NOON },
        tx,
      ),
    ),
    lockOwners: nothing((_, mine, tx) => keys.lockOwners(mine, tx)),
    list: empty((_, mine, tx) => keys.list(mine, tx)),
    hasActiveOwner: answers(false, (_, mine, tx) => keys.hasActiveOwner(mine, tx)),
    revoke: nothing((a, mine, tx) => keys.revoke(mine, a.key.id, NOON, tx)),
  },
  SessionRepository: {
    insert: refused((a, mine, tx) => {
      const session = { keyId: a.key.id, hash: mine.orgId, createdAt: NOON, expiresAt: FAR_FUTURE };
      return sessions.insert(mine, session, tx);
    }),
    findKey: withoutOrg(undefined, (a, _, tx) =>
      sessions.findKey(a.sessionHash, { now: NOON, idleSince: LONG_AGO }, tx),
    ),
    noteUse: nothing((a, mine, tx) =>
      sessions.noteUse(mine, a.sessionId, { at: FAR_FUTURE, staleBefore: FAR_FUTURE }, tx),
    ),
    delete: nothing((a, mine, tx) => sessions.delete(mine, a.sessionHash, tx)),
    deleteEnded: withoutOrg(0, (_, __, tx) => sessions.deleteEnded(FAR_FUTURE, FAR_FUTURE, tx)),
  },
  ChannelRepository: {
    findByAccount: withoutOrg(undefined, (a, _, tx) =>
      channels.findByAccount("telegram", a.account, tx),
    ),
    tokenVariables: withoutOrg([], (_, __, tx) => channels.tokenVariables(tx)),
    find: nothing((a, mine, tx) => channels.find(mine, "telegram", a.account, tx)),
    list: empty((_, mine, tx) => channels.list(mine, tx)),
    insert: nothing((a, mine, tx) =>
      channels.insert(
        mine,
        { channel: "telegram", account: a.account, secretVariable: "MINE", createdAt: NOON },
        tx,
      ),
    ),
    delete: answers(false, (a, mine, tx) => channels.delete(mine, "telegram", a.account, tx)),
  },
  OutboxRepository: {
    append: refused((a, mine, tx) => {
      const {
        userId,
        channels: { delivery },
      } = a;
      return outbox.append(mine, { ...delivery, userId }, NOON, tx);
    }),
    claim: withoutOrg([], (_, __, tx) =>
      outbox.claim(9, { now: FAR_FUTURE, until: FAR_FUTURE }, tx),
    ),
    next: withoutOrg(undefined, (_, __, tx) => outbox.next(tx)),
    head: nothing((a, mine, tx) => outbox.head(mine, a.userId, tx)),
    hold: answers(false, (a, mine, tx) =>
      outbox.hold({ ...mine, userId: a.userId, until: NOON }, tx),
    ),
    remove: nothing((a, mine, tx) => outbox.remove(mine, a.channels.delivery.id, tx)),
    fail: nothing((a, mine, tx) =>
      outbox.fail(mine, a.channels.delivery.id, { reason: "planted", diedAt: NOON }, tx),
    ),
    end: answers(false, (a, mine, tx) => outbox.end(mine, a.userId, tx)),
    release: nothing((a, mine, tx) => outbox.release(mine, a.userId, NOON, tx)),
    lock: nothing((a, mine, tx) => outbox.lock(mine, [a.userId], tx)),
    drop: nothing((a, mine, tx) => outbox.drop(mine, a.userId, tx)),
    move: nothing((a, mine, tx) =>
      outbox.move(mine, { from: a.userId, to: a.channels.other.id }, NOON, tx),
    ),
  },
  DeliveryRepository: {
    list: empty(async (_, mine, tx) => [
      ...(await deliveries.list(mine, { state: "dead", before: undefined, limit: 9 }, tx)),
      ...(await deliveries.list(mine, { state: "dead", before: LAST_ID, limit: 9 }, tx)),
    ]),
    find: nothing((a, mine, tx) => deliveries.find(mine, a.channels.delivery.id, tx)),
    dead: empty((_, mine, tx) => deliveries.dead(mine, 9, tx)),
    replay: refused((a, mine, tx) => {
      const theirs = { ids: [a.channels.delivery.id], userIds: [a.userId, a.channels.other.id] };
      return deliveries.replay(mine, theirs, NOON, tx);
    }),
    oldestWaiting: withoutOrg(null, (_, __, tx) => deliveries.oldestWaiting(tx)),
    deleteDead: withoutOrg(0, (_, __, tx) => deliveries.deleteDead(FAR_FUTURE, 9, tx)),
  },
  IdempotencyRepository: {
    claim: answers(false, (a, mine, tx) =>
      calls.claim(mine, { callHash: a.call.callHash, bodyHash: "x", createdAt: NOON }, tx),
    ),
    find: nothing((a, mine, tx) => calls.find(mine, a.call.callHash, tx)),
    answer: nothing((a, mine, tx) => calls.answer(mine, a.call.callHash, '"forged"', tx)),
    delete: nothing((a, mine, tx) => calls.delete(mine, a.call.callHash, tx)),
    deleteBefore: withoutOrg(0, (_, __, tx) => calls.deleteBefore(FAR_FUTURE, tx)),
  },
  JobQueue: {
    enqueue: withoutOrg(REFUSED, (a, _, tx) =>
      jobs.enqueue({ ...a.job, dedupeKey: "planted" }, NOON, tx),
    ),
    request: nothing((a, mine, tx) => jobs.request({ ...a.job, ...mine }, NOON, tx)),
    hasten: nothing((a, mine, tx) => jobs.hasten({ ...a.job, ...mine }, new Date(0), tx)),
    claim: withoutOrg(undefined, (a, _, tx) => jobs.claim([a.job], FAR_FUTURE, 1, tx)),
    claimNew: withoutOrg(REFUSED, (a, _, tx) => jobs.claimNew(a.job.kind, NOON, 1, tx)),
    oldestDue: withoutOrg(undefined, (_, __, tx) => jobs.oldestDue(FAR_FUTURE, tx)),
  },
  JobLeases: {
    renew: withoutOrg(false, (a, _, tx) => leases.renew(a.claimed, FAR_FUTURE, 1, tx)),
    complete: withoutOrg(false, (a, _, tx) => leases.complete(a.claimed, {}, NOON, tx)),
    fail: withoutOrg("lost", (a, _, tx) => leases.fail(a.claimed, "x", undefined, NOON, tx)),
    postpone: withoutOrg(false, (a, _, tx) => leases.postpone(a.claimed, "x", NOON, tx)),
    release: withoutOrg(false, (a, _, tx) => leases.release(a.claimed, NOON, tx)),
    takeBack: withoutOrg([], (a, _, tx) => leases.takeBack([a.job.kind], FAR_FUTURE, 1, tx)),
    bury: withoutOrg(undefined, (a, _, tx) => leases.bury({ ...a.claimed, attempts: 8 }, NOON, tx)),
  },
  JobRepository: {
    // The server's own jobs, which have no org, run beside this test.
    list: empty(async (_, mine, tx) => {
      const listed = await jobRows.list({ ...mine, withServer: true }, { limit: 99 }, tx);
      return listed.filter(({ orgId }) => orgId !== null);
    }),
    runs: empty((a, mine, tx) =>
      jobRows.runs({ ...mine, withServer: true }, { jobId: a.claimed.id, limit: 9 }, tx),
    ),
    lastRuns: empty(async (a, mine, tx) => {
      const runs = await jobRows.lastRuns({ ...mine, withServer: true }, [a.claimed.kind], tx);
      return runs.filter(({ orgId }) => orgId !== null);
    }),
    isOnlyOrg: withoutOrg(true, async (a, mine, tx) => {
      const others = await orgs.list(tx);
      return (await jobRows.isOnlyOrg(mine.orgId, tx)) === others.length < 2 && a.orgId !== "";
    }),
    find: nothing((a, mine, tx) => jobRows.find({ ...mine, withServer: true }, a.claimed.id, tx)),
    replay: nothing((a, mine, tx) =>
      jobRows.replay({ ...mine, withServer: true }, a.claimed.id, NOON, tx),
    ),
    deleteEnded: withoutOrg(0, (_, __, tx) => jobRows.deleteEnded(FAR_FUTURE, [], 9, tx)),
    deleteRuns: withoutOrg(0, (_, __, tx) => jobRows.deleteRuns(FAR_FUTURE, 9, tx)),
  },
  OrgRepository: {
    named: answers("mine", async (_, mine, tx) => (await orgs.named(mine, tx))?.name),
    findBySlug: withoutOrg(undefined, (a, _, tx) => orgs.findBySlug(a.slug, tx)),
    list: withoutOrg([], async (_, mine, tx) =>
      (await orgs.list(tx)).filter(({ id }) => id !== mine.orgId),
    ),
    insert: withoutOrg(REFUSED, (_, mine, tx) =>
      orgs.insert({ slug: `new-${mine.orgId}`, name: "x", createdAt: NOON }, tx),
    ),
    memory: answers({ enabled: true, offShare: 0, extractionDailyLimit: null }, (_, mine, tx) =>
      orgs.memory(mine, tx),
    ),
    updateMemory: nothing((_, mine, tx) => orgs.updateMemory(mine, { enabled: false }, tx)),
    findStore: empty(async (a, mine, tx) => {
      const byId = await orgs.findStore(mine, { id: a.storeId }, tx);
      const bySlug = await orgs.findStore(mine, { slug: "shop" }, tx);
      return [byId, bySlug].filter((store) => store !== undefined);
    }),
    listStores: empty((_, mine, tx) => orgs.listStores(mine, tx)),
    insertStore: answers(true, async (_, mine, tx) => {
      const row = await orgs.insertStore(mine, { slug: "shop", name: "x", createdAt: NOON }, tx);
      return row?.orgId === mine.orgId;
    }),
  },
  ContextRepository: {
    read: empty(async (a, mine, tx) => {
      const options = { recentLimit: 10, keys: undefined };
      const byId = await contexts.read(mine, { internalId: a.userId }, options, tx);
      const byChannel = await contexts.read(mine, externalOf(a), options, tx);
      return [byId, byChannel].filter((context) => context !== undefined);
    }),
  },
  PeopleRepository: {
    list: empty(async (a, mine, tx) => [
      ...(await people.list(mine, { limit: 9 }, tx)),
      ...(await people.list(mine, { id: a.userId, limit: 9 }, tx)),
      ...(await people.list(mine, { search: a.externalId, limit: 9 }, tx)),
    ]),
    byIds: answers(new Map(), (a, mine, tx) => people.byIds(mine, [a.userId], tx)),
    detail: nothing((a, mine, tx) => people.detail(mine, a.userId, tx)),
  },
  NewcomerRepository: {
    find: answers(new Map(), (a, mine, tx) => newcomers.find(mine, "telegram", [a.externalId], tx)),
    lock: nothing((a, mine, tx) => newcomers.lock(mine, "telegram", [a.externalId], tx)),
    create: answers(false, async (a, mine, tx) => {
      const first = { status: "approved", at: NOON } as const;
      const made = await newcomers.create(mine, "telegram", [externalOf(a)], first, tx);
      const person = made.get(a.externalId);
      return person?.userId === a.userId || person?.identityId === a.identity.id;
    }),
  },
  UserRepository: {
    standing: nothing((a, mine, tx) => users.standing(mine, a.userId, tx)),
    profile: nothing((a, mine, tx) => users.profile(mine, a.userId, tx)),
    findInternal: nothing((a, mine, tx) => users.findInternal(mine, a.userId, tx)),
    findExternal: nothing((a, mine, tx) => users.findExternal(mine, externalOf(a), tx)),
    keepUnlinked: nothing((a, mine, tx) => users.keepUnlinked(mine, [externalOf(a)], tx)),
    keepForLink: nothing((a, mine, tx) => users.keepForLink(mine, [externalOf(a)], tx)),
    setStatus: nothing((a, mine, tx) => users.setStatus(mine, a.userId, "blocked", NOON, tx)),
    identitiesOf: empty((a, mine, tx) => users.identitiesOf(mine, a.userId, tx)),
    lockExternal: nothing((a, mine, tx) => users.lockExternal(mine, externalOf(a), tx)),
    create: answers(false, async (a, mine, tx) => {
      const made = await users.create(mine, externalOf(a), { status: "approved", at: NOON }, tx);
      return made.userId === a.userId || made.identityId === a.identity.id;
    }),
    externalIds: empty((a, mine, tx) => users.externalIds(mine, a.userId, "telegram", tx)),
    addIdentity: refused((a, mine, tx) =>
      users.addIdentity(
        mine,
        personOf(a),
        { channel: "telegram", externalId: "planted" },
        NOON,
        tx,
      ),
    ),
    lock: nothing((a, mine, tx) => users.lock(mine, a.userId, tx)),
    updateProfile: nothing((a, mine, tx) =>
      users.updateProfile(mine, personOf(a), { username: "mallory" }, tx),
    ),
    setReachable: nothing((a, mine, tx) => users.setReachable(mine, externalOf(a), NOON, tx)),
  },
};
