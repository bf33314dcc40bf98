import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { AppError } from "../../errors.ts";

/** An owned data directory. */
export interface DirectoryLock {
  /** Gives the directory up. Idempotent. */
  release(): void;
}

/** Names inside a data directory. */
export const LOCK_FILE = "owner.lock";
export const OWNER_FILE = "owner.pid";

const SQLITE_BUSY = 5;
/** The owner writes its pid right after it has the lock; a rival this fast would read the last owner's. */
const OWNER_WRITES_WITHIN_MS = 100;

/**
 * Makes this process the only owner of a data directory.
 *
 * The lock is SQLite's on an empty file inside the directory: the kernel drops it with the process,
 * whatever kills it, so there is no stale lock and no pid to guess (in a container everybody is
 * pid 1); it belongs to the file and not to a path, so symlinks and bind mounts meet it. The file is
 * never deleted: a rival could hold the old one while a third locks the new one. Nothing in this
 * process may open and close it: POSIX then drops the lock.
 *
 * Rejects with `UNAVAILABLE`, naming the owner's pid and the path.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
    // Journal in memory: nothing is ever written, and a journal file would only lie about.
    file.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    file?.close();
    throw await refusal(directory, error);
  }
  writeFileSync(join(directory, OWNER_FILE), `${process.pid}\n`);
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      file.close();
    },
  };
}

async function refusal(directory: string, cause: unknown): Promise<AppError> {
  const { errcode, message } = cause as { errcode?: number; message: string };
  if (errcode !== SQLITE_BUSY)
    return new AppError(
      "UNAVAILABLE",
      `The data directory ${directory} cannot be locked: ${message}.`,
      { cause, hint: "This user must be able to write to it, on a file system with locks." },
    );
  await wait(OWNER_WRITES_WITHIN_MS);
  return new AppError(
    "UNAVAILABLE",
    `The data directory ${directory} is in use by ${describeOwner(directory)}.`,
    { cause, hint: "Stop that process, or give this one another DATA_DIR." },
  );
}

function describeOwner(directory: string): string {
  try {
    return `process ${readFileSync(join(directory, OWNER_FILE), "utf8").trim()}`;
  } catch {
    return "another process";
  }
}
