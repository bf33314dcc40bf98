import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NODE_MODULES = new URL("../../../node_modules/", import.meta.url);

/**
 * Where installing the packages leaves a data directory with an empty cluster. A first start copies it instead of
 * running initdb, which takes three seconds. PGlite's version is in its name: another one makes its own.
 */
export function templateDirectory(): string {
  const manifest = new URL("@electric-sql/pglite/package.json", NODE_MODULES);
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  return fileURLToPath(new URL(`.cache/souvenir/pglite-${version}`, NODE_MODULES));
}
