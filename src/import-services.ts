import { ChatImport, type ImportDependencies } from "./chat/import.ts";
import { ImportRepository } from "./chat/import-repository.ts";
import { FactImports } from "./facts/import.ts";
import type { StatementDependencies } from "./facts/statements.ts";
import type { OrgService } from "./orgs/service.ts";
import { NewcomerRepository } from "./users/newcomer-repository.ts";
import { Newcomers } from "./users/newcomers.ts";
import { UserRepository } from "./users/repository.ts";

interface ImportParts extends Omit<ImportDependencies, "imports" | "newcomers"> {
  readonly statements: Omit<StatementDependencies, "index">;
  readonly orgs: OrgService;
}

/** What takes over other archives and memories. */
export function buildImports({ statements, orgs, ...parts }: ImportParts) {
  return {
    messages: new ChatImport({
      ...parts,
      imports: new ImportRepository(),
      newcomers: new Newcomers(new NewcomerRepository(), new UserRepository(), parts.clock),
    }),
    facts: new FactImports({ ...parts, ...statements, orgs }),
  };
}
