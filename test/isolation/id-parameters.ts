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
  readonly rules: string;
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
  rules: org.page.rules.id,
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
  rules: v7(),
  cursor: `c1.${Buffer.from(`${v7()} 1772359200000 ${v7()}`).toString("base64url")}`,
});

/** A person of the asking org. */
export const MINE = "telegram:1";
export const ENTRY = { key: "k", value: 1 };
const FACT = { key: "a.fact", value: 1 };
const DECISION = { status: "blocked", reason: "a test of ids" };
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

/** By the name of a parameter every form of id that it takes, wherever a route of `/v1` has it. */
export const FORMS: Readonly<Record<string, readonly (keyof Ids)[]>> = {
  userId: ["person", "external"],
  with: ["person", "external"],
  pinUserId: ["person", "external"],
  storeId: ["store", "storeSlug"],
  pinStoreId: ["store", "storeSlug"],
  factId: ["orgFact", "storeFact", "userFact"],
  keyId: ["key"],
  account: ["account"],
  jobId: ["job"],
  deliveryId: ["delivery"],
  turnId: ["turn"],
  linkId: ["link"],
  erasureId: ["erasure"],
  messageId: ["message"],
  versionId: ["rules"],
  against: ["rules"],
  firstId: ["orgFact"],
  secondId: ["orgFact"],
  id: ["erasure"],
  subjectId: ["person"],
};

/** Parameters of routes that look like one and name nothing of an org; or are tried by the tool of the same name. */
export const NO_ROUTE_IDS = [
  "postMessages id",
  "pinAgentId",
  "agentId",
  "externalUserId",
  "conversationId",
  "sourceMessageId",
];

/** Operations that make whoever a channel's id names, in the caller's org: there is no foreign one. */
export const MAKES_PEOPLE = [
  "patchMemory",
  "rememberFact",
  "archiveTurn",
  "importFacts",
  "postMessages",
  "createKey",
];
