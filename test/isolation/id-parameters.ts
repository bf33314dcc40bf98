import { v7 } from "uuid";
import type { SeededOrg } from "./seeded-org.ts";

/** Ids of another org's things, or such as nobody has. */
export interface Ids {
  readonly person: string;
  readonly external: string;
  readonly store: string;
  readonly storeSlug: string;
  readonly orgFact: string;
  readonly storeFact: string;
  readonly userFact: string;
  readonly key: string;
  readonly account: string;
  readonly message: string;
  readonly cursor: string;
  readonly job: string;
  readonly delivery: string;
  readonly turn: string;
  readonly link: string;
  readonly conversation: string;
  readonly erasure: string;
}

export const idsOf = (org: SeededOrg): Ids => ({
  person: org.userId,
  external: `telegram:${org.externalId}`,
  store: org.storeId,
  storeSlug: "shop-of-theirs",
  orgFact: org.facts.org,
  storeFact: org.facts.store,
  userFact: org.facts.user,
  key: org.key.id,
  account: org.account,
  message: org.turnMessageId,
  cursor: org.cursor,
  job: org.claimed.id,
  delivery: org.channels.delivery.id,
  turn: org.turn.id,
  link: org.channels.link.id,
  conversation: org.externalId,
  erasure: org.page.erasure.id,
});

export const unknownIds = (): Ids => ({
  person: v7(),
  external: "telegram:987654",
  store: v7(),
  storeSlug: "shop-of-nobody",
  orgFact: v7(),
  storeFact: v7(),
  userFact: v7(),
  key: v7(),
  account: "bot-nobody",
  message: v7(),
  job: v7(),
  delivery: v7(),
  turn: v7(),
  link: v7(),
  conversation: "987654",
  erasure: v7(),
  cursor: `c1.${Buffer.from(`${v7()} 1772359200000 ${v7()}`).toString("base64url")}`,
});

/** A person of the asking org. */
export const MINE = "telegram:1";
export const ENTRY = { key: "k", value: 1 };
const FACT = { key: "a.fact", value: 1 };
const DECISION = { status: "blocked", reason: "a test of ids" };
const FACTS = { facts: [{ ...FACT, sourceMessageId: "file:1" }] };
const TURN = { channel: "web", userMessage: "hello", assistantMessage: "hi" };

type Arguments = (ids: Ids) => object;
/** For each tool each parameter that takes an id, with every form that it takes. */
export const TOOLS: Readonly<Record<string, Readonly<Record<string, readonly Arguments[]>>>> = {
  get_user_context: {
    userId: [({ person }) => ({ userId: person }), ({ external }) => ({ userId: external })],
  },
  recall: {
    userId: [
      ({ person }) => ({ userId: person, query: "plan" }),
      ({ external }) => ({ userId: external }),
      ({ person }) => ({ userId: person, scopes: ["user"], asOf: "2030-01-01T00:00:00Z" }),
    ],
    storeId: [
      ({ store }) => ({ storeId: store, query: "plan" }),
      ({ storeSlug }) => ({ storeId: storeSlug }),
    ],
  },
  remember_fact: {
    userId: [({ person }) => ({ scope: "user", userId: person, ...FACT })],
    storeId: [
      ({ store }) => ({ scope: "store", storeId: store, ...FACT }),
      ({ storeSlug }) => ({ scope: "store", storeId: storeSlug, ...FACT }),
    ],
    sourceMessageId: [
      ({ message }) => ({
        scope: "org",
        key: `source_${message.replaceAll("-", "_")}`,
        value: 1,
        sourceMessageId: message,
      }),
    ],
  },
  forget_fact: {
    factId: [
      ({ orgFact }) => ({ factId: orgFact, reason: "not mine" }),
      ({ storeFact }) => ({ factId: storeFact, reason: "not mine" }),
      ({ userFact }) => ({ factId: userFact, reason: "not mine" }),
    ],
  },
  update_memory: { userId: [({ person }) => ({ userId: person, ...ENTRY })] },
  store_memory: { userId: [({ person }) => ({ userId: person, entries: [ENTRY] })] },
  forget_memory: {
    userId: [
      ({ person }) => ({ userId: person, keys: ["colour"] }),
      ({ external }) => ({ userId: external, keys: ["colour"] }),
    ],
  },
  get_chat_history: {
    userId: [({ person }) => ({ userId: person }), ({ external }) => ({ userId: external })],
    before: [({ cursor }) => ({ userId: MINE, before: cursor })],
  },
  link_identity: {
    userId: [({ person }) => ({ userId: person }), ({ external }) => ({ userId: external })],
  },
  set_user_status: {
    userId: [
      ({ person }) => ({ userId: person, ...DECISION }),
      ({ external }) => ({ userId: external, ...DECISION }),
    ],
  },
  send_message: {
    userId: [
      ({ person }) => ({ userId: person, text: "hello" }),
      ({ external }) => ({ userId: external, text: "hello" }),
    ],
    conversationId: [
      ({ conversation }) => ({ userId: MINE, text: "hello", conversationId: conversation }),
    ],
  },
  send_image: {
    userId: [
      ({ person }) => ({ userId: person, image: "https://example.com/a.png" }),
      ({ external }) => ({ userId: external, image: "https://example.com/a.png" }),
    ],
    conversationId: [
      ({ conversation }) => ({
        userId: MINE,
        image: "https://example.com/a.png",
        conversationId: conversation,
      }),
    ],
  },
  archive_turn: {
    userId: [({ person }) => ({ userId: person, ...TURN })],
    storeId: [
      ({ store }) => ({ userId: MINE, storeId: store, ...TURN }),
      ({ storeSlug }) => ({ userId: MINE, storeId: storeSlug, ...TURN }),
    ],
  },
};
/** Parameters that name nothing of an org: what they hold is the caller's own. */
export const NO_IDS = ["agentId", "archive_turn conversationId"];

export const RESOURCES: Readonly<Record<string, readonly ((ids: Ids) => string)[]>> = {
  "memory://users/{userId}/context": [
    ({ person }) => `memory://users/${person}/context`,
    ({ external }) => `memory://users/${external}/context`,
    ({ external }) => `memory://users/${encodeURIComponent(external)}/context`,
  ],
  "memory://facts/{factId}": [
    ({ orgFact }) => `memory://facts/${orgFact}`,
    ({ storeFact }) => `memory://facts/${storeFact}`,
    ({ userFact }) => `memory://facts/${userFact}`,
  ],
};

const POSTED = {
  ...{ channel: "web", id: "posted", direction: "inbound", text: "hello" },
  sentAt: "2026-03-01T12:00:00Z",
};

type Route = (ids: Ids) => readonly ["GET" | "POST" | "PUT" | "DELETE", string, object?];
/** For each route its requests with ids; none where it takes none. */
export const ROUTES: Readonly<Record<string, readonly Route[]>> = {
  "GET /v1/erasures": [],
  "POST /v1/erasures": [
    ({ person }) => ["POST", "/v1/erasures", { kind: "user", userId: person, confirm: person }],
    ({ external }) => [
      "POST",
      "/v1/erasures",
      { kind: "user", userId: external, confirm: external },
    ],
    ({ store }) => ["POST", "/v1/erasures", { kind: "store", storeId: store, confirm: "shop" }],
  ],
  "GET /v1/erasures/:id": [({ erasure }) => ["GET", `/v1/erasures/${erasure}`]],
  "POST /v1/erasures/verify": [({ erasure }) => ["POST", "/v1/erasures/verify", { id: erasure }]],
  "POST /v1/erasures/run": [],
  "POST /v1/resets": [
    ({ person }) => ["POST", "/v1/resets", { scope: "user", userId: person, confirm: person }],
    ({ store }) => ["POST", "/v1/resets", { scope: "store", storeId: store, confirm: "shop" }],
  ],
  "GET /v1/keys": [],
  "POST /v1/keys": [
    ({ person }) => ["POST", "/v1/keys", { name: "k", pinUserId: person }],
    ({ store }) => ["POST", "/v1/keys", { name: "k", pinStoreId: store }],
    ({ storeSlug }) => ["POST", "/v1/keys", { name: "k", pinStoreId: storeSlug }],
  ],
  "DELETE /v1/keys/:id": [({ key }) => ["DELETE", `/v1/keys/${key}`]],
  "GET /v1/orgs": [],
  "POST /v1/orgs": [],
  "GET /v1/stores": [],
  "POST /v1/stores": [],
  "GET /v1/channels": [],
  "POST /v1/channels": [
    ({ store }) => [
      "POST",
      "/v1/channels",
      { channel: "telegram", account: "new", secretVariable: "NEW", storeId: store },
    ],
  ],
  "DELETE /v1/channels/:channel/:account": [
    ({ account }) => ["DELETE", `/v1/channels/telegram/${account}`],
  ],
  "GET /v1/deliveries": [],
  "POST /v1/deliveries/replay": [],
  "POST /v1/deliveries/:id/replay": [
    ({ delivery }) => ["POST", `/v1/deliveries/${delivery}/replay`],
  ],
  "POST /v1/messages": [
    ({ person }) => ["POST", "/v1/messages", { ...POSTED, userId: person }],
    ({ store }) => ["POST", "/v1/messages", { ...POSTED, userId: MINE, storeId: store }],
    ({ storeSlug }) => ["POST", "/v1/messages", { ...POSTED, userId: MINE, storeId: storeSlug }],
  ],
  "GET /v1/jobs": [],
  "GET /v1/jobs/runs": [],
  "POST /v1/jobs/:id/replay": [({ job }) => ["POST", `/v1/jobs/${job}/replay`]],
  "POST /v1/consolidate": [],
  "GET /v1/memory": [],
  "PATCH /v1/memory": [],
  "GET /v1/turns": [],
  "POST /v1/turns/:id/retry": [({ turn }) => ["POST", `/v1/turns/${turn}/retry`]],
  "GET /v1/turns/usage": [],
  "GET /v1/corrections": [],
  "DELETE /v1/corrections/:id": [({ turn }) => ["DELETE", `/v1/corrections/${turn}`]],
  "GET /v1/ab": [],
  "GET /v1/users": [],
  "PUT /v1/users/:userId/status": [
    ({ person }) => ["PUT", `/v1/users/${person}/status`, DECISION],
    ({ external }) => ["PUT", `/v1/users/${external}/status`, DECISION],
  ],
  "POST /v1/users/:userId/links": [
    ({ person }) => ["POST", `/v1/users/${person}/links`, { with: MINE, reason: "x" }],
    ({ person }) => ["POST", `/v1/users/${MINE}/links`, { with: person, reason: "x" }],
    ({ external }) => ["POST", `/v1/users/${MINE}/links`, { with: external, reason: "x" }],
  ],
  "GET /v1/links": [({ person }) => ["GET", `/v1/links?userId=${person}`]],
  "POST /v1/links/:id/undo": [({ link }) => ["POST", `/v1/links/${link}/undo`, {}]],
  // Signed by the host app of the default org, which alone it speaks for.
  "POST /v1/links/assertions": [],
  "GET /v1/audit": [],
  "GET /v1/export.schema.json": [],
  // Its answer is of lines: foreign ids are refused there as unknown ones are.
  "POST /v1/imports/souvenir": [],
  "GET /v1/export": [
    ({ person }) => ["GET", `/v1/export?userId=${person}`],
    ({ external }) => ["GET", `/v1/export?userId=${external}`],
    ({ store }) => ["GET", `/v1/export?storeId=${store}`],
    ({ storeSlug }) => ["GET", `/v1/export?storeId=${storeSlug}`],
  ],
  // The ids of messages and people are the platform's own, in the caller's org.
  "POST /v1/imports/messages": [],
  "POST /v1/imports/facts": [
    ({ person }) => ["POST", "/v1/imports/facts", { scope: "user", userId: person, ...FACTS }],
    ({ person }) => [
      "POST",
      "/v1/imports/facts",
      { scope: "user", userId: person, ...FACTS, dryRun: true },
    ],
  ],
};
