import { eq } from "drizzle-orm";
import { v7 } from "uuid";
import { chatMessages } from "../../src/db/schema/chat.ts";
import { forwardDeliveries } from "../../src/db/schema/forwarding.ts";
import { jobs } from "../../src/db/schema/jobs.ts";
import { possibleDuplicates } from "../../src/db/schema/search.ts";
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

/** The same with another id, and what goes with it: a scope that is its, and no other id beside it in a query. */
export function withId(parts: Parts, place: keyof Parts, name: string, id: string): Parts {
  const { userId, storeId, ...others } = parts[place] ?? {};
  const isOwner = name === "userId" || name === "storeId";
  const which = ["scope", "kind"].find((one) => isOwner && one in others);
  if (which !== undefined)
    return { ...parts, [place]: { ...others, [which]: name.replace(/Id$/, ""), [name]: id } };
  const sent = isOwner && place === "query" ? others : parts[place];
  return { ...parts, [place]: { ...sent, [name]: id } };
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

const aCorrection: Prepare = async (app, org, unique) => {
  const { params } = await aDeadCorrection(app, org, unique);
  const id = (await aMessage(app, org, unique)).params?.messageId ?? "";
  await app.database.transactions.system("operator", (tx) =>
    tx.update(chatMessages).set({ turnId: params?.turnId }).where(eq(chatMessages.id, id)),
  );
  return { ...(params && { params }), body: { key: `c.${unique}`, value: 1 } };
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
const anEntry: Prepare = async (app, org, unique) => {
  await app.ok("update_memory", { ...of(org), key: unique, value: null }, org.keys.member);
  return entry(org, unique);
};
const aMessage: Prepare = async (app, org, unique) => {
  const turn = { ...of(org), channel: "web", userMessage: unique, assistantMessage: "noted" };
  const { userMessageId } = await app.ok("archive_turn", turn, org.keys.member);
  return { params: { messageId: String(userMessageId) } };
};
const aPair: Prepare = async (app, org, unique) => {
  const ids: string[] = [];
  for (const at of [1, 2])
    ids.push((await aFact(app, org, `${unique}_${at}`)).params?.factId ?? "");
  const [firstId = "", secondId = ""] = ids.sort();
  const { orgId } = org;
  await app.database.transactions.system("operator", (tx) =>
    tx.insert(possibleDuplicates).values({ orgId, firstId, secondId, likeness: 1, foundAt: NOON }),
  );
  return { body: { firstId, secondId } };
};
const someRules: Prepare = async (app, org, unique) => {
  const { body: now } = await app.v1("GET", "/v1/rules", undefined, org.slug);
  const { body } = await app.v1(
    "PUT",
    "/v1/rules",
    { text: unique, basedOn: now.version },
    org.slug,
  );
  return { params: { versionId: String(body.id) }, body: { basedOn: Number(body.version) } };
};
const aVersion: Prepare = async (...to) => ({ params: (await someRules(...to)).params ?? {} });
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
  listMemory: ofPerson,
  getMemory: anEntry,
  deleteMemory: anEntry,
  deleteMemories: (_, org, n) => ({ params: of(org), query: { keys: n } }),
  rememberFact: (_, org, n) => ({ body: { scope: "user", ...of(org), key: `m.${n}`, value: 1 } }),
  listFacts: (_, org) => ({ query: { scope: "user", ...of(org), all: "true" } }),
  getFact: aFact,
  explainFact: aFact,
  listContradictions: nothing,
  listWatchFacts: nothing,
  listDuplicates: nothing,
  dismissDuplicate: aPair,
  rememberCorrection: aCorrection,
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
  readArchive: ofPerson,
  searchArchive: (_, org) => ({ params: of(org), query: { search: "said" } }),
  readNobodysMessages: nothing,
  getMessage: aMessage,
  deleteMessage: aMessage,
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
  getRules: () => ({ query: { storeId: "shop" } }),
  saveRules: async (...to) => {
    const { body } = await someRules(...to);
    return { body: { ...body, text: `saved ${to[2]}` } };
  },
  listRulesVersions: nothing,
  getRulesVersion: aVersion,
  diffRules: aVersion,
  restoreRules: someRules,
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
  getOverview: nothing,
  listJobs: nothing,
  listSchedule: nothing,
  startJob: () => ({ params: { kind: "facts.consolidate" } }),
  listJobRuns: (_, org) => ({ query: { jobId: org.claimed.id } }),
  replayJob: aDeadJob,
  consolidate: nothing,
  listTurns: () => ({ query: { state: "closed" } }),
  retryTurn: aDeadCorrection,
  retryTurns: nothing,
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
