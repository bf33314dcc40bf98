import { z } from "zod";
import { EntryKey, EntryValue, MAX_BATCH } from "../../kv/entry.ts";
import type { KvService } from "../../kv/service.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";

export const storeMemory = (kv: KvService) =>
  defineTool({
    name: "store_memory",
    title: "Set several memory entries",
    description:
      "Stores up to 500 keys of one person's key-value map: all or, if one is bad, none. Use it when several values were " +
      "learned together, such as a filled-in form. Each key once; existing keys are replaced, others left alone. Returns" +
      " how many were written. Not for claims that may change or fade: remember_fact.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      userId: UserId,
      entries: z
        .array(z.strictObject({ key: EntryKey, value: EntryValue.describe("Any JSON") }))
        .min(1, "send at least one entry")
        .max(MAX_BATCH, `send at most ${MAX_BATCH} entries`),
    }),
    output: z.strictObject({ count: z.int(), updatedAt: z.string() }),
    async handle({ userId, entries }, { principal }) {
      const written = await kv.store(principal, userId, entries);
      const latest = Math.max(...written.map((entry) => entry.updatedAt.getTime()));
      return { count: written.length, updatedAt: new Date(latest).toISOString() };
    },
  });
