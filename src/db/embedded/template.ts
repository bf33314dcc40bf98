import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const NODE_MODULES = new URL("../../../node_modules/", import.meta.url);

/**
 * Where installing the packages leaves a data directory with an empty cluster. A first start copies it instead of
 * running initdb, which takes three seconds. What it was made by is in its name: another version makes its own.
 */
export function templateDirectory(): string {
  const made = ["pglite", "pglite-pgvector"].map((name) => `${name}-${versionOf(name)}`).join("-");
  return fileURLToPath(new URL(`.cache/souvenir/${made}`, NODE_MODULES));
}

function versionOf(name: string): string {
  const manifest = new URL(`@electric-sql/${name}/package.json`, NODE_MODULES);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
