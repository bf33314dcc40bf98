import { z } from "zod";
import { EntryKey, MAX_BATCH } from "../../kv/entry.ts";
import type { KvService } from "../../kv/service.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";

export const forgetMemory = (kv: KvService) =>
  defineTool({
    name: "forget_memory",
    title: "Delete memory entries",
    description:
      "Deletes keys of a person's key-value map for good, when somebody asks to forget or an entry is obsolete. To correct a " +
      "value write it again with update_memory. Unknown keys are ignored. Facts (forget_fact) and chat messages are not " +
      "touched. Returns how many keys were deleted.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      userId: UserId,
      keys: z.array(EntryKey).min(1, "send at least one key").max(MAX_BATCH),
    }),
    output: z.strictObject({ count: z.int() }),
    async handle({ userId, keys }, { principal }) {
      return { count: await kv.forget(principal, userId, keys) };
    },
  });
