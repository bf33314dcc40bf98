import { z } from "zod";
import { EntryKey, EntryValue } from "../../kv/entry.ts";
import type { KvService } from "../../kv/service.ts";
import { UserId } from "../../users/person.ts";
import { defineTool } from "../tool.ts";
import { USER_ID } from "./descriptions.ts";

export const updateMemory = (kv: KvService) =>
  defineTool({
    name: "update_memory",
    title: "Set one memory entry",
    description:
      "Stores one value under a key of a person's key-value map, replacing what was there. For current state with one right " +
      "value that is read back by key: a profile field, a setting, progress. Several keys at once: store_memory. Claims that " +
      "may be confirmed, contradicted or fade: remember_fact. Any JSON value comes back exactly as sent, up to 64 KiB; a " +
      "person has at most 1,000 keys and 1 MiB.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      userId: UserId.describe(USER_ID),
      key: EntryKey.describe("e.g. profile.language"),
      value: EntryValue.describe("Any JSON"),
    }),
    output: z.strictObject({ key: z.string(), created: z.boolean(), updatedAt: z.string() }),
    async handle({ userId, key, value }, { principal }) {
      const [entry] = await kv.store(principal, userId, [{ key, value }]);
      if (!entry) throw new Error("a stored entry gave no answer");
      return { key, created: entry.created, updatedAt: entry.updatedAt.toISOString() };
    },
  });
