import { z } from "zod";
import { OutgoingTextMessage } from "../../chat/outgoing.ts";
import type { Sending } from "../../chat/sending.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

/** Of both tools that send: seen at once by a person, and not to be taken back. */
export const SENDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;

export const Sent = z.strictObject({
  messages: z.array(z.looseObject({})),
});

export const sendMessage = (sending: Sending) =>
  defineTool({
    name: "send_message",
    title: "Send a message",
    description:
      "Sends a text to a person on their chat channel and archives it. For answers to messages from there and for writing " +
      "first, not where your answer is shown anyway. CONFLICT: they cannot be reached. UNAVAILABLE: it may have arrived all " +
      "the same, so do not repeat it unasked.",
    annotations: SENDS,
    input: OutgoingTextMessage.extend({
      userId: UserId.describe(USER_ID),
      conversationId: OutgoingTextMessage.shape.conversationId.describe(
        "A group or topic in which they wrote; default: to them alone",
      ),
    }),
    output: Sent,
    handle: ({ text, format, ...to }, { principal, signal }) =>
      sending.send(principal, "send_message", to, { text, format }, signal),
  });
