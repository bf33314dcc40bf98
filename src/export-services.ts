import { type ExportImportDependencies, ExportImports } from "./export/import.ts";
import { ExportImportRepository } from "./export/import-repository.ts";
import { ExportRepository } from "./export/repository.ts";
import { type ExportDependencies, Exports } from "./export/service.ts";

/** What hands out everything that is kept of somebody, and what takes it back in. */
export function buildExports(
  parts: Omit<ExportDependencies, "rows"> & Omit<ExportImportDependencies, "rows">,
) {
  return {
    exports: new Exports({ ...parts, rows: new ExportRepository() }),
    exportImports: new ExportImports({ ...parts, rows: new ExportImportRepository() }),
  };
}
