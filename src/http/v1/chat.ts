import { z } from "zod";
import { DEFAULT_HISTORY_LIMIT, MAX_HISTORY_LIMIT } from "../../chat/history.ts";
import { OutgoingImage, OutgoingTextMessage } from "../../chat/outgoing.ts";
import type { Sending } from "../../chat/sending.ts";
import type { ChatService } from "../../chat/service.ts";
import { Turn } from "../../chat/turn.ts";
import { UserId } from "../../users/person.ts";
import { Id, NextBefore, Time } from "./answers.ts";
import { type Route, route } from "./route.ts";

const section = "Chat";
const OfUser = z.object({ userId: UserId });

export const Message = z
  .strictObject({
    id: Id,
    direction: z.enum(["inbound", "outbound"]),
    kind: z.string(),
    text: z.string().nullable(),
    sentAt: Time,
    channel: z.string(),
    edited: z.boolean(),
    failed: z
      .literal(true)
      .optional()
      .meta({ description: "It was to be sent, and never arrived" }),
  })
  .meta({ id: "Message" });

const Sent = z.strictObject({
  messages: z
    .array(z.strictObject({ id: Id, platformMessageId: z.string() }))
    .meta({ description: "In the order of the text; a long one takes several" }),
});

interface ChatServices {
  readonly chat: ChatService;
  readonly sending: Sending;
}

/** The archive of messages, and sending. What other channels say comes by `POST /v1/messages`. */
export const chatRoutes = ({ chat, sending }: ChatServices): Route[] => [
  route({
    method: "GET",
    url: "/v1/users/:userId/messages",
    id: "listMessages",
    section,
    summary: "A person's messages",
    description:
      "Of every channel, both directions, oldest first; the newest page without `before`. `before` is the `nextBefore` of a page or a point in time. A page ends early at 100 KB.",
    caller: "member",
    errors: ["NOT_FOUND"],
    params: OfUser,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(MAX_HISTORY_LIMIT).default(DEFAULT_HISTORY_LIMIT),
      before: z.string().min(1).max(256).optional(),
    }),
    answer: z.strictObject({ messages: z.array(Message), nextBefore: NextBefore }),
    handle: ({ by, params: { userId }, query }) => chat.history(by, userId, query),
  }),
  route({
    method: "POST",
    url: "/v1/users/:userId/messages",
    id: "sendMessage",
    section,
    summary: "Send a text or an image",
    description:
      "To a person on their channel, and into the archive. `image` is an http(s) URL, the channel's file id, or base64. 503: it may have arrived all the same.",
    caller: "member",
    errors: ["NOT_FOUND", "CONFLICT", "UNAVAILABLE"],
    idempotent: true,
    bodyLimit: 16 * 1024 * 1024,
    params: OfUser,
    body: z.union([
      OutgoingTextMessage.omit({ userId: true, idempotencyKey: true }),
      OutgoingImage.omit({ userId: true, idempotencyKey: true }),
    ]),
    example: { text: "Your order has left the shop." },
    status: 201,
    answer: Sent,
    handle: ({ by, params: { userId }, body, idempotencyKey, signal }) => {
      const { format, conversationId } = body;
      const to = { userId, conversationId, idempotencyKey };
      if ("text" in body)
        return sending.send(by, "send_message", to, { text: body.text, format }, signal);
      const { image, caption = "" } = body;
      return sending.send(by, "send_image", to, { text: caption, format, image }, signal);
    },
  }),
  route({
    method: "POST",
    url: "/v1/turns",
    id: "archiveTurn",
    section,
    summary: "Archive a turn",
    description:
      "What a person wrote and what the assistant answered, for runtimes without a webhook. A message that ends with `#noremember` is archived and kept out of search and learning.",
    caller: "member",
    errors: ["NOT_FOUND", "CONFLICT"],
    idempotent: true,
    body: Turn.omit({ idempotencyKey: true }),
    example: {
      userId: "web:visitor-7",
      channel: "web",
      userMessage: "I am allergic to nuts.",
      assistantMessage: "Noted: no nuts.",
    },
    status: 201,
    answer: z.strictObject({ userMessageId: Id, assistantMessageId: Id, sentAt: Time }),
    handle: ({ by, body, idempotencyKey }) => chat.archiveTurn(by, { ...body, idempotencyKey }),
  }),
];
