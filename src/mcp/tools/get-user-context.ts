import { z } from "zod";
import type { ChatService } from "../../chat/service.ts";
import { EntryKey, MAX_BATCH } from "../../kv/entry.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { READS, USER_ID } from "./descriptions.ts";
import { Message } from "./get-chat-history.ts";

const DEFAULT_RECENT = 20;

export const getUserContext = (chat: ChatService) =>
  defineTool({
    name: "get_user_context",
    title: "Read what is known of a person",
    description:
      "Reads a person's profile, key-value map and newest chat messages in one call. Use it once at the start of a " +
      "conversation or task, before answering. For facts that match a question use recall; for older messages " +
      "get_chat_history. Returns user (with channel identities), memory (by key) and recentMessages (oldest first). " +
      "NOT_FOUND: nothing is known of this person yet.",
    annotations: READS,
    alwaysLoad: true,
    input: z.strictObject({
      userId: UserId.describe(USER_ID),
      recentLimit: z.int().min(0).default(DEFAULT_RECENT).describe("At most 500"),
      keys: z.array(EntryKey).max(MAX_BATCH).optional().describe("Only these keys"),
    }),
    output: z.strictObject({
      user: z.looseObject({ id: z.string() }),
      memory: z.looseObject({}),
      recentMessages: z.array(Message),
    }),
    async handle({ userId, recentLimit, keys }, { principal }) {
      const { user, memory, recentMessages } = await chat.context(principal, userId, {
        recentLimit,
        keys,
      });
      return {
        user: { ...user },
        memory,
        recentMessages: recentMessages.map((message) => ({ ...message })),
      };
    },
  });
