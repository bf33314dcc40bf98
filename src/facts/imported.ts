import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { UserId } from "../users/person.ts";
import { FactDraft, SourceMessageId } from "./fact.ts";

/** Facts of one request: its transaction takes some 100 ms, so that writers of the same keys wait no longer. */
const MAX_IMPORTED_FACTS = 500;

/** A claim from another memory's file. */
const ImportedFact = FactDraft.pick({ key: true, value: true, tags: true }).extend({
  /** Of the content, so that the same claim is known again. */
  sourceMessageId: SourceMessageId,
});
export type ImportedFact = z.output<typeof ImportedFact>;

export const FactImport = z.strictObject({
  scope: z.enum(["org", "user"]),
  userId: UserId.optional(),
  agentId: AgentId.optional(),
  /** Say what would happen and write nothing. */
  dryRun: z.boolean().default(false),
  facts: z.array(ImportedFact).min(1).max(MAX_IMPORTED_FACTS),
});
export type FactImport = z.output<typeof FactImport>;

export type FactOutcome = "new" | "present";

export interface FactsImported {
  /** One for each fact, in their order. */
  readonly outcomes: readonly FactOutcome[];
}
