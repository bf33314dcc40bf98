import { z } from "zod";
import { Reason } from "../audit/service.ts";
import { StoreId } from "../orgs/service.ts";

/** Every agent reads them with every call: more would leave no room for the conversation. */
const MAX_RULES_BYTES = 32 * 1024;

/** Whose rules: the org's own, or what one of its stores adds to them. */
export const RulesOf = z.strictObject({ storeId: StoreId.optional() });
export type RulesOf = z.output<typeof RulesOf>;

/** Query of a list of versions; `before`: the number of the last version of the page before. */
export const RulesQuery = RulesOf.extend({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  before: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
});
export type RulesQuery = z.output<typeof RulesQuery>;

/** The version that somebody had before their eyes when they wrote; 0: there was none. */
const BasedOn = z.coerce.number().int().min(0).max(2_147_483_647);

/** Markdown; empty: none from here on. White space at the end says nothing. */
const RulesText = z
  .string()
  .transform((text) => text.replaceAll("\r\n", "\n").trimEnd())
  .refine((text) => Buffer.byteLength(text) <= MAX_RULES_BYTES, {
    message: `rules take at most ${MAX_RULES_BYTES / 1024} KiB`,
  })
  .refine((text) => text.isWellFormed() && !text.includes("\0"), {
    message: "U+0000 or half of a surrogate pair cannot be stored",
  });

/** What is saved as a new version. */
export const NewRules = RulesOf.extend({
  text: RulesText,
  basedOn: BasedOn,
  reason: Reason.optional(),
});
export type NewRules = z.output<typeof NewRules>;

export const RestoreRules = z.strictObject({ basedOn: BasedOn, reason: Reason.optional() });
export type RestoreRules = z.output<typeof RestoreRules>;

export interface RulesVersion {
  readonly id: string;
  /** null: the org's own. */
  readonly storeId: string | null;
  /** From 1, without gaps. */
  readonly version: number;
  /** Counted on the high side when it was saved. */
  readonly tokens: number;
  readonly reason: string | null;
  readonly createdBy: string;
  readonly createdAt: string;
}

export interface WrittenRules extends RulesVersion {
  readonly text: string;
}

/** What is in force, with the version to base the next one on: 0 where nothing was ever saved. */
export interface CurrentRules {
  readonly storeId: string | null;
  readonly version: number;
  readonly text: string;
  readonly tokens: number;
  readonly saved: RulesVersion | null;
}

/** The stable block: the org's rules, then the store's. The same rules give the same bytes. Empty where there are none. */
export function stableBlockOf(texts: readonly (string | null)[]): string {
  const rules = texts.filter(Boolean).join("\n\n");
  return rules === "" ? "" : `<rules>\n${rules}\n</rules>`;
}
