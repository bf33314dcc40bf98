import { z } from "zod";
import { AgentId } from "../access/agent.ts";
import { FactKey, FactScopeName, Tags } from "../facts/fact.ts";
import { Instant } from "../instant.ts";
import { StoreId } from "../orgs/service.ts";
import { UserId } from "../users/person.ts";

const MAX_FACTS = 50;
export const DEFAULT_BUDGET = 1400;
/** What is searched for; a longer query is welcome (a whole message may be sent) and its beginning counts. */
const SEARCHED_CHARACTERS = 2000;

/** What a caller sends to recall. All filters narrow. */
export const Recall = z.strictObject({
  query: z
    .string()
    .max(64 * 1024)
    .optional(),
  userId: UserId.optional(),
  storeId: StoreId.optional(),
  scopes: z.array(FactScopeName).min(1).max(3).optional(),
  keyPrefix: z
    .string()
    .transform((prefix) => prefix.replace(/\.$/, ""))
    .pipe(FactKey)
    .optional(),
  tags: Tags.optional(),
  minConfidence: z.number().min(0).max(1).optional(),
  since: Instant.optional(),
  asOf: Instant.optional(),
  limit: z.int().min(1).max(MAX_FACTS).default(20),
  budgetTokens: z.int().min(1).max(32_000).default(DEFAULT_BUDGET),
  agentId: AgentId.optional(),
  includeArchived: z.boolean().default(false),
});
export type Recall = z.output<typeof Recall>;

/** The searched part of a query; undefined where there is nothing to search for and facts are listed. */
export function searched(query: string | undefined): string | undefined {
  const text = query?.slice(0, SEARCHED_CHARACTERS).toWellFormed().trim();
  return text === "" ? undefined : text;
}
