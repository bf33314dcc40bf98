import type { AnySection } from "./rows.ts";
import type { ExportScope } from "./scope.ts";

/** Sections that only some scopes have; every other one has the rest. */
const ONLY: Partial<Record<AnySection, readonly ExportScope["name"][]>> = {
  settings: ["org"],
  links: ["org", "user"],
  linkMoves: ["org", "user"],
  entries: ["org", "user"],
  channelAccounts: ["org", "store"],
  rules: ["org", "store"],
  orgFacts: ["org"],
  storeFacts: ["org", "store"],
  userFacts: ["org", "user"],
  usage: ["org"],
  counts: ["org"],
  orgFactsFromMessages: ["user"],
  storeFactsFromMessages: ["user"],
};

/** The sections that an export of a scope has, in their order. */
export function sectionsOf<Name extends AnySection>(
  { name }: Pick<ExportScope, "name">,
  names: readonly Name[],
): Name[] {
  return names.filter((section) => ONLY[section]?.includes(name) ?? true);
}
