import { KeyRepository } from "../../src/access/repository.ts";
import { ChannelRepository } from "../../src/channels/repository.ts";
import { IdempotencyRepository } from "../../src/idempotency/repository.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import { OrgRepository } from "../../src/orgs/repository.ts";
import { ContextRepository } from "../../src/users/context.ts";
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
  withoutOrg,
} from "./call.ts";
import { NOON } from "./seeded-org.ts";

const keys = new KeyRepository();
const channels = new ChannelRepository();
const calls = new IdempotencyRepository();
const jobs = new JobQueue();
const orgs = new OrgRepository();
const contexts = new ContextRepository();
const users = new UserRepository();

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
  ChannelRepository: {
    findByAccount: withoutOrg(undefined, (a, _, tx) =>
      channels.findByAccount("telegram", a.account, tx),
    ),
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
  IdempotencyRepository: {
    claim: answers(false, (a, mine, tx) =>
      calls.claim(mine, { callHash: a.call.callHash, bodyHash: "x", createdAt: NOON }, tx),
    ),
    find: nothing((a, mine, tx) => calls.find(mine, a.call.callHash, tx)),
    answer: nothing((a, mine, tx) => calls.answer(mine, a.call.callHash, '"forged"', tx)),
    deleteBefore: withoutOrg(0, (_, __, tx) => calls.deleteBefore(FAR_FUTURE, tx)),
  },
  JobQueue: {
    enqueue: withoutOrg(REFUSED, (a, _, tx) =>
      jobs.enqueue({ ...a.job, dedupeKey: "planted" }, NOON, tx),
    ),
    claim: withoutOrg(undefined, (a, _, tx) => jobs.claim([a.job.kind], FAR_FUTURE, 1, tx)),
    complete: withoutOrg(undefined, (a, _, tx) => jobs.complete(a.claimed, NOON, tx)),
    // It answers what it was about to do; the rows tell that it did nothing.
    fail: withoutOrg("queued", (a, _, tx) => jobs.fail(a.claimed, "x", NOON, tx)),
  },
  OrgRepository: {
    findBySlug: withoutOrg(undefined, (a, _, tx) => orgs.findBySlug(a.slug, tx)),
    list: withoutOrg([], async (_, mine, tx) =>
      (await orgs.list(tx)).filter(({ id }) => id !== mine.orgId),
    ),
    insert: withoutOrg(REFUSED, (_, mine, tx) =>
      orgs.insert({ slug: `new-${mine.orgId}`, name: "x", createdAt: NOON }, tx),
    ),
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
  UserRepository: {
    findInternal: nothing((a, mine, tx) => users.findInternal(mine, a.userId, tx)),
    findExternal: nothing((a, mine, tx) => users.findExternal(mine, externalOf(a), tx)),
    lockExternal: nothing((a, mine, tx) => users.lockExternal(mine, externalOf(a), tx)),
    create: answers(false, async (a, mine, tx) => {
      const made = await users.create(mine, externalOf(a), { status: "approved", at: NOON }, tx);
      return made.userId === a.userId || made.identityId === a.identity.id;
    }),
    lock: nothing((a, mine, tx) => users.lock(mine, a.userId, tx)),
    updateProfile: nothing((a, mine, tx) =>
      users.updateProfile(mine, personOf(a), { username: "mallory" }, tx),
    ),
    setReachable: nothing((a, mine, tx) => users.setReachable(mine, externalOf(a), NOON, tx)),
  },
};
