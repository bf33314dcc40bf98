import { z } from "zod";
import { Reason } from "../../audit/service.ts";
import type { Approval } from "../../users/approval.ts";
import { UserId, UserStatus } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

export const setUserStatus = (approval: Approval) =>
  defineTool({
    name: "set_user_status",
    title: "Approve or block a person",
    description:
      "Decides about a person: approved people's messages are forwarded and learned from; of pending and blocked people they are " +
      "only archived. What was written before an approval stays out for good. Blocking drops what waits. Only on the wish of " +
      "somebody who runs this org, never of the person in question. Returns the status, and when they were first approved.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    minRole: "admin",
    input: z.strictObject({
      userId: UserId.describe(USER_ID),
      status: UserStatus,
      reason: Reason.describe("Kept for audit"),
    }),
    output: z.strictObject({
      userId: z.string(),
      status: UserStatus,
      approvedAt: z.string().nullable(),
    }),
    handle: ({ userId, status, reason }, { principal }) =>
      approval.decide(principal, userId, { status, reason }),
  });
