import { z } from "zod";
import { Reason } from "../../audit/service.ts";
import type { ChatService } from "../../chat/service.ts";
import { EntryKey, EntryValue, MAX_BATCH } from "../../kv/entry.ts";
import { EntriesQuery, type KvReview } from "../../kv/review.ts";
import type { KvService } from "../../kv/service.ts";
import { UserId, UserStatus } from "../../users/person.ts";
import { Id, Json, Time } from "./answers.ts";
import { Message } from "./chat.ts";
import { type Route, route } from "./route.ts";

const section = "Memory";
const OfUser = z.object({ userId: UserId });
const OfEntry = z.object({ userId: UserId, key: EntryKey });
const Memory = z
  .record(z.string(), Json)
  .meta({ id: "Memory", description: "Values by key, as they were stored" });

const Person = z
  .strictObject({
    id: Id,
    username: z.string().nullable(),
    firstName: z.string().nullable(),
    status: UserStatus,
    role: z.enum(["customer", "operator"]),
    createdAt: Time,
    approvedAt: Time.nullable(),
    identities: z.array(z.strictObject({ channel: z.string(), externalId: z.string() })),
  })
  .meta({ id: "Person" });

const Entry = z
  .strictObject({
    key: z.string(),
    value: Json,
    bytes: z.int(),
    agentId: z.string(),
    writtenBy: z.string(),
    updatedAt: Time,
  })
  .meta({ id: "Entry" });

/** One name or several, as an address has them. */
const Keys = z.union([z.array(EntryKey).max(MAX_BATCH), EntryKey.transform((key) => [key])]);

interface MemoryServices {
  readonly kv: KvService;
  readonly entries: KvReview;
  readonly chat: ChatService;
}

/** A person's key-value map, and all that is known of them in one call. */
export const memoryRoutes = ({ kv, entries, chat }: MemoryServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/users/:userId/context",
    id: "getContext",
    section,
    summary: "What is known of a person",
    description:
      "Profile, key-value map and newest messages (oldest first), of one snapshot. What an agent reads before it answers.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: z.object({
      recentLimit: z.coerce.number().int().min(0).max(500).default(20),
      keys: Keys.optional(),
    }),
    answer: z.strictObject({ user: Person, memory: Memory, recentMessages: z.array(Message) }),
    handle: ({ by, params: { userId }, query: { recentLimit, keys } }) =>
      chat.context(by, userId, { recentLimit, keys }),
  }),
  route({
    method: "GET",
    url: "/v1/users/:userId/memory",
    id: "listMemory",
    section,
    summary: "A person's entries",
    description:
      "By key, with who wrote each and when; `after` is the `nextAfter` of the page before.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: EntriesQuery.omit({ userId: true }),
    answer: z.strictObject({ entries: z.array(Entry), nextAfter: z.string().nullable() }),
    handle: ({ by, params, query }) => entries.list(by, { ...query, ...params }),
  }),
  route({
    method: "GET",
    url: "/v1/users/:userId/memory/:key",
    id: "getMemory",
    section,
    summary: "An entry",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfEntry,
    answer: Entry,
    handle: ({ by, params: { userId, key } }) => entries.find(by, userId, key),
  }),
  route({
    method: "PUT",
    url: "/v1/users/:userId/memory/:key",
    id: "putMemory",
    section,
    summary: "Set an entry by hand",
    description:
      "Any JSON value, up to 64 KiB; it comes back exactly as sent. Kept in the audit trail, with `reason`. Keys that an address cannot hold (`.`, `..`) go by `PATCH`.",
    caller: "member",
    errors: ["NOT_FOUND", "LIMIT_EXCEEDED"],
    params: OfEntry,
    body: z.strictObject({ value: EntryValue, reason: Reason.optional() }),
    example: { value: { language: "fr" } },
    answer: z.strictObject({ key: z.string(), created: z.boolean(), updatedAt: Time }),
    handle: ({ by, params: { userId, key }, body: { value, reason = null } }) =>
      entries.set(by, userId, { key, value }, reason),
  }),
  route({
    method: "PATCH",
    url: "/v1/users/:userId/memory",
    id: "patchMemory",
    section,
    summary: "Set several entries",
    description: `At most ${MAX_BATCH}, all or none. Other entries stay as they are. Whoever a channel's id names and is not known yet is made, approved.`,
    caller: "member",
    errors: ["NOT_FOUND", "LIMIT_EXCEEDED"],
    params: OfUser,
    body: z.strictObject({
      entries: z
        .array(z.strictObject({ key: EntryKey, value: EntryValue }))
        .min(1, "send at least one entry")
        .max(MAX_BATCH, `send at most ${MAX_BATCH} entries`),
    }),
    example: { entries: [{ key: "profile.language", value: "fr" }] },
    answer: z.strictObject({ count: z.int(), updatedAt: Time }),
    handle: async ({ by, params: { userId }, body: { entries } }) => {
      const written = await kv.store(by, userId, entries);
      const latest = Math.max(...written.map((entry) => entry.updatedAt.getTime()));
      return { count: written.length, updatedAt: new Date(latest) };
    },
  }),
  route({
    method: "DELETE",
    url: "/v1/users/:userId/memory/:key",
    id: "deleteMemory",
    section,
    summary: "Delete an entry by hand",
    description: "Kept in the audit trail, with `reason`.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfEntry,
    query: z.object({ reason: Reason.optional() }),
    answer: z.strictObject({ deleted: z.literal(true) }),
    handle: ({ by, params: { userId, key }, query: { reason = null } }) =>
      entries.remove(by, userId, key, reason),
  }),
  route({
    method: "DELETE",
    url: "/v1/users/:userId/memory",
    id: "deleteMemories",
    section,
    summary: "Delete several entries",
    description: "`keys` names them, once for each; unknown ones are ignored.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: z.object({ keys: Keys }),
    answer: z.strictObject({ count: z.int() }),
    handle: async ({ by, params: { userId }, query: { keys } }) => ({
      count: await kv.forget(by, userId, keys),
    }),
  }),
];
