import { NOON } from "./seeded-org.ts";

/** An import of one message, of a person who is not known yet. */
export const messageImport = (unique: string) => ({
  channel: "telegram",
  account: "import",
  messages: [
    {
      direction: "inbound",
      kind: "text",
      text: unique,
      sentAt: NOON.toISOString(),
      conversationId: "c",
      platformMessageId: unique,
      sender: { externalId: unique },
      forwarded: false,
      payload: {},
    },
  ],
});

/** An import of one fact of the org. */
export const factImport = (unique: string) => ({
  scope: "org",
  facts: [{ key: `i.${unique}`, value: 1, sourceMessageId: "file:1" }],
});
