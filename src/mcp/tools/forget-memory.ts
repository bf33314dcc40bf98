import { z } from "zod";
import { EntryKey, MAX_BATCH } from "../../kv/entry.ts";
import type { KvService } from "../../kv/service.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

export const forgetMemory = (kv: KvService) =>
  defineTool({
    name: "forget_memory",
    title: "Delete memory entries",
    description:
      "Deletes keys from a person's key-value map for good. Use it when the person asks for something to be forgotten, or when an " +
      "entry is obsolete; to correct a value just write it again with update_memory. Keys that do not exist are ignored. Returns how " +
      "many keys were deleted. Facts are not touched: use forget_fact for those. Chat messages are not touched either.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      userId: UserId.describe(USER_ID),
      keys: z.array(EntryKey).min(1, "send at least one key").max(MAX_BATCH),
    }),
    output: z.strictObject({ count: z.int() }),
    async handle({ userId, keys }, { principal }) {
      return { count: await kv.forget(principal, userId, keys) };
    },
  });
