import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../errors.ts";
import { LOCK_FILE, OWNER_FILE } from "./directory-lock.ts";
import { initialiseCluster } from "./engine.ts";
import { templateDirectory } from "./template.ts";

/** The PostgreSQL cluster inside a data directory. */
const CLUSTER = "pgdata";
const SIDE_PREFIX = `${CLUSTER}.init-`;
/** The PostgreSQL major version of the installed PGlite; a test compares them. */
export const POSTGRES_MAJOR = "18";
/** What may lie in a data directory before its first start: the root of a mounted ext4 volume. */
const HARMLESS = new Set([LOCK_FILE, OWNER_FILE, "lost+found"]);

/**
 * Refuses, before anything is written, a path that is no place for a database: something else's
 * files, or a cluster of another PostgreSQL major version. A missing or empty directory is fine.
 */
export async function checkDataDirectory(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [] as string[];
    throw error.code === "ENOTDIR"
      ? refusal(`${directory} is a file, not a directory`, error)
      : refusal(`the directory ${directory} cannot be read (${error.code})`, error);
  });
  if (names.includes(CLUSTER)) {
    await checkCluster(directory);
    return;
  }
  const foreign = names.filter(
    (name) => !HARMLESS.has(name) && !name.startsWith(".") && !name.startsWith(SIDE_PREFIX),
  );
  if (foreign.length === 0) return;
  const examples = foreign.sort().slice(0, 3).join(", ");
  throw refusal(`${directory} is not empty and holds no Souvenir database (it has ${examples})`);
}

async function checkCluster(directory: string): Promise<void> {
  const cluster = join(directory, CLUSTER);
  const version = await readFile(join(cluster, "PG_VERSION"), "utf8").catch((error: unknown) => {
    throw refusal(`${cluster} is not a PostgreSQL data directory (no PG_VERSION)`, error);
  });
  if (version.trim() === POSTGRES_MAJOR) return;
  throw refusal(
    `the database in ${directory} was made by PostgreSQL ${version.trim()}, and this version of Souvenir opens PostgreSQL ${POSTGRES_MAJOR}`,
  );
}

function refusal(reason: string, cause?: unknown): AppError {
  return new AppError("UNAVAILABLE", `Nothing was changed: ${reason}.`, {
    cause,
    hint: "Point DATA_DIR at a Souvenir data directory, or at an empty or new one.",
  });
}

/**
 * Returns the path of the cluster in a directory this process owns, making it on the first start: a
 * copy of the one in the `template` directory, or by initdb where there is none that can be copied.
 *
 * The cluster is made beside its place and renamed into it: a process killed while its 39 MB are
 * written leaves a side directory, which the next start removes, and never half a cluster, which
 * would not open again.
 */
export async function prepareCluster(
  directory: string,
  { template }: { template: string | undefined } = { template: templateDirectory() },
): Promise<string> {
  const cluster = join(directory, CLUSTER);
  for (const name of await readdir(directory)) {
    if (name.startsWith(SIDE_PREFIX))
      await rm(join(directory, name), { recursive: true, force: true });
  }
  if (existsSync(cluster)) return cluster;
  const side = join(directory, `${SIDE_PREFIX}${randomUUID()}`);
  try {
    await fill(side, template === undefined ? undefined : join(template, CLUSTER));
    await rename(side, cluster);
  } catch (error) {
    await rm(side, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(directory);
  return cluster;
}

/** A template may be another user's, who installed the packages, or damaged: it only saves time. */
async function fill(side: string, model: string | undefined): Promise<void> {
  if (model !== undefined && existsSync(model)) {
    try {
      await mkdir(side, { mode: 0o700 });
      await cp(model, side, { recursive: true });
      return;
    } catch {
      await rm(side, { recursive: true, force: true });
    }
  }
  await mkdir(side, { mode: 0o700 });
  await initialiseCluster(side);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
