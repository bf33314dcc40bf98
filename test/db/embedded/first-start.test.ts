import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { openEmbedded } from "../../../src/db/embedded/embedded.ts";
import { connect, startProcess, temporaryDirectory } from "./embedded-fixture.ts";

/** A first start is 4 s of work, and a loaded machine multiplies it. */
const SLOW = 180_000;

let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => {
  directory.dispose();
});

function contents(path = directory.path): string[] {
  try {
    return readdirSync(path, { recursive: true }).map(String).sort();
  } catch {
    return [];
  }
}

test("the first start makes the directory and its parents, and the next finds what was written", {
  timeout: SLOW,
}, async () => {
  const nested = join(directory.path, "not", "there", "yet");
  const first = await openEmbedded(nested);
  const sql = connect(first);
  await sql`create table notes as select 'kept' as body`;
  await sql.end();
  await first.close();
  await first.close();

  const second = await openEmbedded(nested);
  const again = connect(second);
  expect([...(await again`select body from notes`)]).toEqual([{ body: "kept" }]);
  await again.end();
  await second.close();
});

test("a volume's own lost+found is no reason to refuse, and a damaged cluster says what is wrong", {
  timeout: SLOW,
}, async () => {
  mkdirSync(join(directory.path, "lost+found"));
  await (await openEmbedded(directory.path)).close();
  writeFileSync(join(directory.path, "pgdata", "global", "pg_control"), "damaged");
  // Twice: a start that failed does not keep the lock.
  for (const _ of [1, 2])
    await expect(openEmbedded(directory.path)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringMatching(/does not open: could not read file "global\/pg_control"/),
    });
});

test("kill -9 at any moment of the first start leaves a directory that opens", {
  timeout: SLOW,
}, async () => {
  const files = () => contents().length;
  const moments: [string, () => boolean][] = [
    ["the lock is taken", () => files() > 0],
    ["the side directory is there", () => contents().some((name) => /init-[^/]+$/.test(name))],
    ["the copy is at a half", () => files() > 500],
    [
      "the copy says which version it is",
      () => contents().some((name) => name.endsWith("VERSION")),
    ],
    ["the cluster is in its place", () => existsSync(join(directory.path, "pgdata"))],
  ];
  for (const [moment, isReached] of moments) {
    const child = startProcess(directory.path);
    onTestFinished(child.kill);
    await expect.poll(isReached, { interval: 1, timeout: 60_000, message: moment }).toBe(true);
    await child.kill();
  }

  const database = await openEmbedded(directory.path);
  const sql = connect(database);
  expect([...(await sql`select 1 as opens`)]).toEqual([{ opens: 1 }]);
  await sql.end();
  await database.close();
  expect(readdirSync(directory.path).sort()).toEqual(["owner.lock", "owner.pid", "pgdata"]);
});

test("a directory with other files in it is refused and left alone", async () => {
  writeFileSync(join(directory.path, "thesis.doc"), "important");
  await expect(openEmbedded(directory.path)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: `Nothing was changed: ${directory.path} is not empty and holds no Souvenir database (it has thesis.doc).`,
  });
  expect(contents()).toEqual(["thesis.doc"]);
});

test("a database of another PostgreSQL version is refused by its number and left alone", async () => {
  mkdirSync(join(directory.path, "pgdata"));
  writeFileSync(join(directory.path, "pgdata", "PG_VERSION"), "17\n");
  const before = contents();
  await expect(openEmbedded(directory.path)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: `Nothing was changed: the database in ${directory.path} was made by PostgreSQL 17, and this version of Souvenir opens PostgreSQL 18.`,
  });
  expect(contents()).toEqual(before);
});

test("a cluster without its version and a path that is a file are refused with a sentence", async () => {
  mkdirSync(join(directory.path, "pgdata"));
  await expect(openEmbedded(directory.path)).rejects.toThrow("is not a PostgreSQL data directory");
  const file = join(directory.path, "file");
  writeFileSync(file, "");
  await expect(openEmbedded(file)).rejects.toThrow("is a file, not a directory");
});
