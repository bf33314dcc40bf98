import { z } from "zod";
import type { ChatService } from "../../chat/service.ts";
import { Turn } from "../../chat/turn.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

export const archiveTurn = (chat: ChatService) =>
  defineTool({
    name: "archive_turn",
    title: "Archive one turn",
    description:
      "Archives what a person wrote and what the assistant answered, word for word. Use it once after each answer where the " +
      "chat does not reach this server through a channel's webhook or send_message (calling this too would double it). A " +
      "message that ends with #noremember is archived but kept out of search and learning. Send an idempotencyKey when you " +
      "may retry. Returns both message ids, usable as sourceMessageId in remember_fact.",
    archived: ["userMessage", "assistantMessage"],
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    input: Turn.extend({
      userId: UserId.describe(USER_ID),
      channel: Turn.shape.channel.describe("Where it was said, e.g. web"),
      observedAt: Turn.shape.observedAt.describe("ISO 8601; default now"),
    }),
    output: z.strictObject({
      userMessageId: z.string(),
      assistantMessageId: z.string(),
      sentAt: z.string(),
    }),
    handle: (turn, { principal }) => chat.archiveTurn(principal, turn),
  });
