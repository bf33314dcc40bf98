import { z } from "zod";
import type { LinkCodes } from "../../links/codes.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

export const linkIdentity = (codes: LinkCodes) =>
  defineTool({
    name: "link_identity",
    title: "Link a person's other channel",
    description:
      "Makes a one-time code for somebody who writes on several channels. Tell it to that person where you know them already; " +
      "once they send it to the bot in private from their other channel, both are one person with one memory, and the sender " +
      "is approved as this person is. Valid for 15 minutes and once. Never link people because names or numbers look alike. " +
      "Returns the code and when it ends.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: false,
    },
    minRole: "admin",
    input: z.strictObject({ userId: UserId.describe(USER_ID) }),
    output: z.strictObject({ code: z.string(), expiresAt: z.string() }),
    handle: ({ userId }, { principal }) => codes.issue(principal, userId),
  });
