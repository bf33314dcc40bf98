import { z } from "zod";
import { Reason } from "../../audit/service.ts";
import type { ChatArchive } from "../../chat/archive.ts";
import { ArchiveQuery, ArchiveSearch, NobodyQuery } from "../../chat/archived.ts";
import { UserId } from "../../users/person.ts";
import { Id, Json, NextBefore, Time } from "./answers.ts";
import { Scope } from "./facts.ts";
import { type Route, route } from "./route.ts";

const section = "Chat";
const OfUser = z.object({ userId: UserId });
const OfMessage = z.object({ messageId: z.string() });

const ArchivedEntry = z
  .strictObject({
    id: Id,
    userId: Id.nullable(),
    speaker: z.string().nullable(),
    direction: z.enum(["inbound", "outbound"]),
    kind: z.string(),
    text: z.string().nullable(),
    isClipped: z.boolean(),
    channel: z.string(),
    account: z.string(),
    conversationId: z.string(),
    sentAt: Time,
    editedAt: Time.nullable(),
    forwarded: z.boolean(),
    optedOut: z.boolean(),
    delivery: z.enum(["sending", "sent", "delivered", "read", "failed"]).nullable(),
    revisions: z.array(z.strictObject({ text: z.string().nullable(), replacedAt: Time })),
  })
  .meta({
    id: "ArchivedMessage",
    description: "A message with its earlier texts, the oldest first",
  });

const Page = z.strictObject({ messages: z.array(ArchivedEntry), nextBefore: NextBefore });

/** The archive as people look through it. */
export const archiveRoutes = (archive: ChatArchive): Route[] => [
  route({
    method: "GET",
    url: "/v1/users/:userId/archive",
    id: "readArchive",
    section,
    summary: "A person's messages with their history",
    description: "Newest first, with edits and deliveries; of one `day` (UTC) if given.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: ArchiveQuery.omit({ userId: true }),
    answer: Page,
    handle: ({ by, params, query }) => archive.of(by, { ...query, ...params }),
  }),
  route({
    method: "GET",
    url: "/v1/users/:userId/archive/search",
    id: "searchArchive",
    section,
    summary: "Find messages by their words",
    description: "Best first, at most 500. What the person kept out is in no search.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: ArchiveSearch.omit({ userId: true }),
    answer: z.strictObject({
      messages: z.array(ArchivedEntry),
      nextOffset: z.int().nullable().meta({ description: "The `offset` of the next page" }),
    }),
    handle: ({ by, params, query }) => archive.search(by, { ...query, ...params }),
  }),
  route({
    method: "GET",
    url: "/v1/archive/nobody",
    id: "readNobodysMessages",
    section,
    summary: "Messages of nobody",
    description: "Channel posts, and what could not be read. Newest first.",
    caller: "admin",
    query: NobodyQuery,
    answer: Page,
    handle: ({ by, query }) => archive.ofNobody(by, query),
  }),
  route({
    method: "GET",
    url: "/v1/messages/:messageId",
    id: "getMessage",
    section,
    summary: "A message and what was said around it",
    description: "With what was learned from it; for admins with what the platform sent.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfMessage,
    answer: z.strictObject({
      message: ArchivedEntry,
      before: z.array(ArchivedEntry),
      after: z.array(ArchivedEntry),
      facts: z.array(
        z.strictObject({
          factId: Id,
          scope: Scope,
          agentId: z.string(),
          key: z.string(),
          value: Json,
          counts: z.boolean(),
        }),
      ),
      mayDelete: z.boolean(),
      payload: Json.optional(),
    }),
    handle: ({ by, params: { messageId } }) => archive.message(by, messageId),
  }),
  route({
    method: "DELETE",
    url: "/v1/messages/:messageId",
    id: "deleteMessage",
    section,
    summary: "Erase a message",
    description: "With its earlier texts and what was learned from it alone.",
    caller: "member",
    errors: ["FORBIDDEN", "NOT_FOUND"],
    params: OfMessage,
    query: z.object({ reason: Reason.optional() }),
    answer: z.strictObject({ deleted: z.literal(true), statements: z.int() }),
    handle: ({ by, params: { messageId }, query: { reason = null } }) =>
      archive.delete(by, messageId, reason),
  }),
];
