import { z } from "zod";
import { FactId, ForgetReason } from "../../facts/fact.ts";
import type { FactService } from "../../facts/service.ts";
import { defineTool } from "../tool.ts";

export const forgetFact = (facts: FactService) =>
  defineTool({
    name: "forget_fact",
    title: "Forget a fact for good",
    description:
      "Erases a fact that recall or remember_fact named, with every row that says the same under its key and what the audit trail " +
      "tells of it. For a person's wish to be forgotten, or a fact that should never have been stored. Cannot be undone. Where a fact " +
      "changed, remember the new value instead. Org and store facts need an admin key. Returns how many rows were erased.",
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({
      factId: FactId,
      reason: ForgetReason.describe("Kept for audit: do not repeat the fact"),
    }),
    output: z.strictObject({ factId: z.string(), count: z.int() }),
    async handle({ factId, reason }, { principal }) {
      return { factId, count: await facts.forget(principal, factId, reason) };
    },
  });
