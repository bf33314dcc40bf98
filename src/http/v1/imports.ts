import { z } from "zod";
import type { ChatImport } from "../../chat/import.ts";
import { MessageImport } from "../../chat/imported.ts";
import type { FactImports } from "../../facts/import.ts";
import { FactImport } from "../../facts/imported.ts";
import { type Route, route } from "./route.ts";

/** 500 messages of the usual length, and room for some long ones. */
const BATCH_BYTES = 4 * 1024 * 1024;

export interface ImportServices {
  readonly messages: ChatImport;
  readonly facts: FactImports;
}

/** What was said and learned elsewhere, in batches: the command line reads the files. */
export const importRoutes = ({ messages, facts }: ImportServices): Route[] => [
  route({
    method: "POST",
    url: "/v1/imports/messages",
    id: "importMessages",
    section: "Data",
    summary: "Import messages from another archive",
    description:
      "At most 500 in a batch, oldest first. A message that is there already stays as it is unless `update` is true; nothing is learned from what is imported.",
    caller: "admin",
    errors: ["CONFLICT", "LIMIT_EXCEEDED"],
    bodyLimit: BATCH_BYTES,
    body: MessageImport,
    example: {
      channel: "telegram",
      account: "main",
      dryRun: true,
      messages: [
        {
          direction: "inbound",
          kind: "text",
          text: "I am allergic to nuts",
          sentAt: "2026-03-01T10:00:00Z",
          conversationId: "12345",
          platformMessageId: "7",
          sender: { externalId: "12345", firstName: "Ada" },
          forwarded: false,
          payload: {},
        },
      ],
    },
    answer: z.strictObject({
      outcomes: z
        .array(z.enum(["new", "present", "changed", "updated", "differs"]))
        .meta({ description: "One for each message, in their order" }),
      newPeople: z.array(z.string()),
    }),
    handle: ({ by, body }) => messages.messages(by, body),
  }),
  route({
    method: "POST",
    url: "/v1/imports/facts",
    id: "importFacts",
    section: "Data",
    summary: "Import facts from another memory",
    description:
      "At most 500 in a batch, of one person or of the org. Repeating a batch changes nothing.",
    caller: "admin",
    errors: ["NOT_FOUND", "CONFLICT", "LIMIT_EXCEEDED"],
    bodyLimit: BATCH_BYTES,
    body: FactImport,
    example: {
      scope: "user",
      userId: "telegram:12345",
      facts: [{ key: "food.allergies", value: "nuts", sourceMessageId: "file:1" }],
    },
    answer: z.strictObject({ outcomes: z.array(z.enum(["new", "present"])) }),
    handle: ({ by, body }) => facts.facts(by, body),
  }),
];
