import { v7 } from "uuid";
import { forwardDeliveries } from "../../src/db/schema/forwarding.ts";
import { jobs } from "../../src/db/schema/jobs.ts";
import { turns } from "../../src/db/schema/turns.ts";
import type { TestApp } from "../support/app.ts";
import { factImport, messageImport } from "./imports.ts";
import type { DescribedOperation } from "./operations.ts";
import type { Method } from "./rpc.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

/** What goes into a request: values for its address, its query and its body. */
export interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** @param unique a name that no other request has */
export type Prepare = (app: TestApp, org: SeededOrg, unique: string) => Promise<Parts> | Parts;

export function requestOf(
  { method, url }: Pick<DescribedOperation, "method" | "url">,
  { params = {}, query = {}, body }: Parts,
): readonly [Method, string, object?] {
  const path = url.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const address = search ? `${path}?${search}` : path;
  return body ? [method, address, body] : [method, address];
}

/** The same with another id. Where a scope says which id goes with it, that of this one. */
export function withId(parts: Parts, place: keyof Parts, name: string, id: string): Parts {
  const sent = parts[place] ?? {};
  const which = ["scope", "kind"].find((one) => one in sent && /^(?:user|store)Id$/.test(name));
  if (which === undefined) return { ...parts, [place]: { ...sent, [name]: id } };
  const { userId, storeId, ...others } = sent;
  return { ...parts, [place]: { ...others, [which]: name.replace(/Id$/, ""), [name]: id } };
}

const of = ({ externalId }: SeededOrg) => ({ userId: `telegram:${externalId}` });

const aFact: Prepare = async (app, org, unique) => {
  const fact = { scope: "user", ...of(org), key: `role.${unique}`, value: 1 };
  const { factId } = await app.ok("remember_fact", fact, org.keys.member);
  return { params: { factId: String(factId) } };
};

const aPerson = async (app: TestApp, org: SeededOrg, unique: string) => {
  const userId = `telegram:${unique}`;
  await app.ok("update_memory", { userId, key: "k", value: 1 }, org.keys.member);
  return { userId };
};

const aKey: Prepare = async (app, org, unique) => {
  const { body } = await app.v1("POST", "/v1/keys", { name: unique }, org.slug);
  return { params: { keyId: (body.info as { id: string }).id } };
};

const account = (unique: string) => ({ channel: "telegram", account: unique, secretVariable: "S" });
const anAccount: Prepare = async (app, org, unique) => {
  await app.v1("POST", "/v1/channels", account(unique), org.slug);
  return { params: { channel: "telegram", account: unique } };
};

const aDeadJob: Prepare = async (app, org, unique) => {
  const id = v7();
  const job = { id, orgId: org.orgId, kind: "test", dedupeKey: unique, payload: "{}" };
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(jobs).values({ ...job, state: "dead", runAt: NOON, createdAt: NOON }),
  );
  return { params: { jobId: id } };
};

const aDeadDelivery: Prepare = async (app, org) => {
  const id = v7();
  const delivery = { ...org.channels.delivery, id, position: 2 };
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(forwardDeliveries).values(delivery),
  );
  return { params: { deliveryId: id } };
};

const aDeadCorrection: Prepare = async (app, org, unique) => {
  const id = v7();
  const place = { channel: "web", account: "", conversationId: unique, agentId: "atlas" };
  const dead = { state: "dead", isCorrection: true, arm: "on" } as const;
  const times = { openedAt: NOON, lastMessageAt: NOON };
  const { orgId, userId } = org;
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(turns).values({ id, orgId, userId, ...place, ...dead, ...times }),
  );
  return { params: { turnId: id } };
};

const aLink: Prepare = async (app, org, unique) => {
  const { userId } = await aPerson(app, org, unique);
  return { params: of(org), body: { with: userId, reason: "a test" } };
};
const aLinkToUndo: Prepare = async (app, org, unique) => {
  const { params, body } = await aLink(app, org, unique);
  const link = await app.v1("POST", `/v1/users/${params?.userId}/links`, body, org.slug);
  return { params: { linkId: String(link.body.id) }, body: {} };
};

const entry = (org: SeededOrg, unique: string) => ({ params: { ...of(org), key: unique } });
const ofPerson: Prepare = (_, org) => ({ params: of(org) });
const nothing: Prepare = () => ({});

/** For every route that takes a key a request that works, for a key of the role that the route asks for. */
export const REQUESTS: Readonly<Record<string, Prepare>> = {
  getContext: ofPerson,
  putMemory: (_, org, n) => ({ ...entry(org, n), body: { value: { n: null } } }),
  patchMemory: (_, org, n) => ({
    params: of(org),
    body: { entries: [{ key: n, value: "10.5" }] },
  }),
  deleteMemory: (_, org, n) => entry(org, n),
  deleteMemories: (_, org, n) => ({ params: of(org), query: { keys: n } }),
  rememberFact: (_, org, n) => ({ body: { scope: "user", ...of(org), key: `m.${n}`, value: 1 } }),
  getFact: aFact,
  editFact: async (...to) => ({ ...(await aFact(...to)), body: { value: "another" } }),
  decideFact: async (...to) => ({ ...(await aFact(...to)), body: { decision: "pin" } }),
  forgetFact: async (...to) => ({ ...(await aFact(...to)), query: { reason: "a test" } }),
  recall: (_, org) => ({ body: { ...of(org), storeId: "shop", query: "said plan" } }),
  inspectRecall: (_, org) => ({ body: { ...of(org), storeId: "shop", query: "said plan" } }),
  listMessages: ofPerson,
  sendMessage: (_, org) => ({ params: of(org), body: { text: "hello" } }),
  archiveTurn: (_, org) => ({
    body: { ...of(org), storeId: "shop", channel: "web", userMessage: "a", assistantMessage: "b" },
  }),
  postMessages: (_, __, n) => ({
    body: {
      ...{ channel: "web", id: n, userId: "web:visitor", direction: "inbound", text: "hello" },
      ...{ sentAt: NOON.toISOString(), storeId: "shop" },
    },
  }),
  listUsers: nothing,
  getUser: ofPerson,
  issueLinkCode: async (...to) => ({ params: await aPerson(...to) }),
  setUserStatus: (_, org) => ({
    params: of(org),
    body: { status: "approved", reason: "a test" },
  }),
  linkUsers: aLink,
  listLinks: (_, org) => ({ query: of(org) }),
  undoLink: aLinkToUndo,
  listAudit: nothing,
  importMessages: (_, __, n) => ({ body: messageImport(n) }),
  importFacts: (_, __, n) => ({ body: factImport(n) }),
  importExport: () => ({ body: { lines: [] } }),
  export: (_, org) => ({ query: of(org) }),
  listErasures: nothing,
  erase: async (app, org, n) => ({
    body: { kind: "user", confirm: n, ...(await aPerson(app, org, n)) },
  }),
  getErasure: (_, org) => ({ params: { erasureId: org.page.erasure.id } }),
  verifyErasure: (_, org) => ({ body: { id: org.page.erasure.id } }),
  runErasures: nothing,
  reset: async (app, org, n) => ({
    body: { scope: "user", confirm: n, ...(await aPerson(app, org, n)) },
  }),
  listJobs: nothing,
  listJobRuns: (_, org) => ({ query: { jobId: org.claimed.id } }),
  replayJob: aDeadJob,
  consolidate: nothing,
  listTurns: () => ({ query: { state: "closed" } }),
  retryTurn: aDeadCorrection,
  extractionUsage: nothing,
  listCorrections: nothing,
  dismissCorrection: aDeadCorrection,
  compareArms: nothing,
  listDeliveries: nothing,
  replayDeliveries: nothing,
  replayDelivery: aDeadDelivery,
  listKeys: nothing,
  createKey: (_, org, n) => ({
    body: { name: n, pinUserId: of(org).userId, pinStoreId: "shop" },
  }),
  revokeKey: aKey,
  listOrgs: nothing,
  createOrg: (_, __, n) => ({ body: { slug: n } }),
  listStores: nothing,
  createStore: (_, __, n) => ({ body: { slug: n } }),
  listChannels: nothing,
  createChannel: (_, __, n) => ({ body: { ...account(n), storeId: "shop" } }),
  removeChannel: anAccount,
  getMemorySettings: nothing,
  changeMemorySettings: () => ({ body: { offShare: 0 } }),
};
