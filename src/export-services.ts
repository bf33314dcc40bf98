import { ExportRepository } from "./export/repository.ts";
import { type ExportDependencies, Exports } from "./export/service.ts";

/** What hands out everything that is kept of somebody. */
export function buildExports(parts: Omit<ExportDependencies, "rows">) {
  return new Exports({ ...parts, rows: new ExportRepository() });
}
