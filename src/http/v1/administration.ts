import { z } from "zod";
import { KEY_ROLES } from "../../access/principal.ts";
import { type KeyService, NewKey } from "../../access/service.ts";
import { NewAccount } from "../../channels/account.ts";
import type { ChannelService } from "../../channels/service.ts";
import { MemoryChanges } from "../../orgs/memory.ts";
import { type OrgService, Slug } from "../../orgs/service.ts";
import { Id, Nothing, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

export interface AdministrationServices {
  readonly keys: KeyService;
  readonly orgs: OrgService;
  readonly channels: ChannelService;
}

const section = "Administration";
const Named = z.strictObject({ slug: Slug, name: z.string().min(1).max(100).optional() });
const named = { id: Id, slug: z.string(), name: z.string(), createdAt: Time };

const Key = z
  .strictObject({
    id: Id,
    name: z.string(),
    role: z.enum(KEY_ROLES),
    defaultAgent: z.string(),
    pins: z.strictObject({
      userId: Id.optional(),
      storeId: Id.optional(),
      agentId: z.string().optional(),
    }),
    createdAt: Time,
    lastUsedAt: Time.nullable(),
    revokedAt: Time.nullable(),
  })
  .meta({ id: "Key", description: "An API key, without the key itself" });

const MemorySettings = z
  .strictObject({
    enabled: z.boolean(),
    offShare: z.number().meta({ description: "The share of people who do without, 0 to 1" }),
    extractionDailyLimit: z.int().nullable(),
  })
  .meta({ id: "MemorySettings" });

const Org = z
  .strictObject({
    ...named,
    memoryEnabled: z.boolean(),
    memoryOffShare: z.number(),
    extractionDailyLimit: z.int().nullable(),
  })
  .meta({ id: "Org" });

const Store = z.strictObject({ ...named, orgId: Id }).meta({ id: "Store" });

const Variable = z.string().nullable();
const ChannelAccount = z
  .strictObject({
    id: Id,
    orgId: Id,
    storeId: Id.nullable(),
    channel: z.string(),
    account: z.string(),
    secretVariable: z.string(),
    tokenVariable: Variable,
    verifyVariable: Variable,
    forwardUrl: z.string().nullable(),
    forwardSecretVariable: Variable,
    autoApprove: z.boolean(),
    createdAt: Time,
    secretIsSet: z.boolean(),
    unsetVariables: z.array(z.string()),
  })
  .meta({
    id: "ChannelAccount",
    description: "A bot, phone number or host app. Names the variables that hold its secrets",
  });

/** Keys, orgs, stores, channels, and how an org uses memory. */
export const administrationRoutes = ({ keys, orgs, channels }: AdministrationServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/keys",
    id: "listKeys",
    section,
    summary: "API keys of the org",
    caller: "admin",
    answer: z.strictObject({ keys: z.array(Key) }),
    handle: async ({ by }) => ({ keys: await keys.list(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/keys",
    id: "createKey",
    section,
    summary: "Make an API key",
    description:
      "The key is in this answer and nowhere else. At most of the role of the key that makes it.",
    caller: "admin",
    errors: ["NOT_FOUND"],
    body: NewKey,
    example: { name: "support bot", role: "member", defaultAgent: "maya" },
    status: 201,
    answer: z.strictObject({ key: z.string(), info: Key }),
    handle: ({ by, body }) => keys.create(by, body),
  }),
  route({
    method: "DELETE",
    url: "/v1/keys/:keyId",
    id: "revokeKey",
    section,
    summary: "End an API key at once",
    caller: "admin",
    errors: ["NOT_FOUND"],
    params: z.object({ keyId: z.string() }),
    answer: Key,
    handle: ({ by, params: { keyId } }) => keys.revoke(by, keyId),
  }),
  route({
    method: "GET",
    url: "/v1/orgs",
    id: "listOrgs",
    section,
    summary: "Orgs of the server",
    caller: "operator",
    answer: z.strictObject({ orgs: z.array(Org) }),
    handle: async ({ by }) => ({ orgs: await orgs.list(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/orgs",
    id: "createOrg",
    section,
    summary: "Make an org",
    caller: "operator",
    errors: ["CONFLICT"],
    body: Named,
    example: { slug: "acme", name: "Acme Ltd" },
    status: 201,
    answer: Org,
    handle: ({ by, body: { slug, name } }) => orgs.create(by, slug, name ?? slug),
  }),
  route({
    method: "GET",
    url: "/v1/stores",
    id: "listStores",
    section,
    summary: "Stores of the org",
    caller: "admin",
    answer: z.strictObject({ stores: z.array(Store) }),
    handle: async ({ by }) => ({ stores: await orgs.listStores(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/stores",
    id: "createStore",
    section,
    summary: "Make a store",
    caller: "admin",
    errors: ["CONFLICT"],
    body: Named,
    example: { slug: "paris", name: "Rue de Rivoli" },
    status: 201,
    answer: Store,
    handle: ({ by, body: { slug, name } }) => orgs.createStore(by, slug, name ?? slug),
  }),
  route({
    method: "GET",
    url: "/v1/channels",
    id: "listChannels",
    section,
    summary: "Channel accounts of the org",
    caller: "admin",
    answer: z.strictObject({ channels: z.array(ChannelAccount) }),
    handle: async ({ by }) => ({ channels: await channels.list(by) }),
  }),
  route({
    method: "POST",
    url: "/v1/channels",
    id: "createChannel",
    section,
    summary: "Make a channel account",
    description: "Names the variables of the server's environment that hold its secrets.",
    caller: "operator",
    errors: ["NOT_FOUND", "CONFLICT"],
    body: NewAccount,
    example: { channel: "telegram", account: "shop", secretVariable: "SHOP_SECRET" },
    status: 201,
    answer: ChannelAccount,
    handle: ({ by, body }) => channels.add(by, body),
  }),
  route({
    method: "DELETE",
    url: "/v1/channels/:channel/:account",
    id: "removeChannel",
    section,
    summary: "Take a channel account away",
    description: "Its messages stay in the archive.",
    caller: "admin",
    errors: ["NOT_FOUND"],
    params: z.object({ channel: z.string(), account: z.string() }),
    status: 204,
    answer: Nothing,
    handle: ({ by, params: { channel, account } }) => channels.remove(by, channel, account),
  }),
  route({
    method: "GET",
    url: "/v1/memory",
    id: "getMemorySettings",
    section,
    summary: "How the org uses memory",
    caller: "admin",
    answer: MemorySettings,
    handle: ({ by }) => orgs.memory(by),
  }),
  route({
    method: "PATCH",
    url: "/v1/memory",
    id: "changeMemorySettings",
    section,
    summary: "Switch memory on or off, or compare",
    description:
      "Off, nothing is extracted and recall's blocks are empty; what is told explicitly is still kept. `offShare` of the people do without, for a comparison.",
    caller: "admin",
    body: MemoryChanges,
    example: { offShare: 0.1 },
    answer: MemorySettings,
    handle: ({ by, body }) => orgs.changeMemory(by, body),
  }),
];
