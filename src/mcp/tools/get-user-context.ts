import { z } from "zod";
import type { ChatService } from "../../chat/service.ts";
import { EntryKey, MAX_BATCH } from "../../kv/entry.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";
import { Message } from "./get-chat-history.ts";

const DEFAULT_RECENT = 20;

const User = z.strictObject({
  id: z.string(),
  username: z.string().nullable(),
  firstName: z.string().nullable(),
  status: z.string(),
  role: z.string(),
  createdAt: z.iso.datetime(),
  approvedAt: z.iso.datetime().nullable(),
  identities: z.array(z.strictObject({ channel: z.string(), externalId: z.string() })),
});

export const getUserContext = (chat: ChatService) =>
  defineTool({
    name: "get_user_context",
    title: "Read what is known of a person",
    description:
      "Reads a person's profile, their whole key-value map and their newest chat messages in one call. Use it once at the start of " +
      "a conversation or task, before answering. keys limits the map to the entries you need. For facts that match a question use " +
      "recall; for older messages use get_chat_history. Returns user (with every channel identity), memory (an object by key; " +
      "empty for a person with no entries) and recentMessages (oldest first). NOT_FOUND means that nothing is known of this person.",
    annotations: {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    alwaysLoad: true,
    input: z.strictObject({
      userId: UserId.describe(USER_ID),
      recentLimit: z
        .int()
        .min(0)
        .default(DEFAULT_RECENT)
        .describe("How many of the newest messages; more than 500 counts as 500"),
      keys: z.array(EntryKey).max(MAX_BATCH).optional().describe("Only these keys of the map"),
    }),
    output: z.strictObject({
      user: User,
      memory: z.record(z.string(), z.unknown()),
      recentMessages: z.array(Message),
    }),
    async handle({ userId, recentLimit, keys }, { principal }) {
      const context = await chat.context(principal, userId, { recentLimit, keys });
      return {
        user: { ...context.user, identities: [...context.user.identities] },
        memory: context.memory,
        recentMessages: [...context.recentMessages],
      };
    },
  });
