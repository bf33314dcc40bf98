import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { prepareCluster } from "../../../src/db/embedded/data-directory.ts";
import { openEmbedded } from "../../../src/db/embedded/embedded.ts";
import { templateDirectory } from "../../../src/db/embedded/template.ts";
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

test("installing the packages left a template, and a first start without one makes its cluster by itself", {
  timeout: SLOW,
}, async () => {
  expect(readdirSync(templateDirectory())).toEqual(["pgdata"]);
  const empty = join(directory.path, "empty");
  const cluster = join(directory.path, "data");
  mkdirSync(empty);
  mkdirSync(cluster);
  await prepareCluster(cluster, { template: empty });
  await (await openEmbedded(cluster)).close();
});

test("a first start whose template can be copied only by half makes its cluster by itself", {
  timeout: SLOW,
}, async () => {
  const template = join(directory.path, "template");
  const data = join(directory.path, "data");
  mkdirSync(join(template, "pgdata"), { recursive: true });
  mkdirSync(data);
  writeFileSync(join(template, "pgdata", "PG_VERSION"), "18\n");
  // Nobody, root included, can copy a socket: the way one user cannot copy a file that another one alone may read.
  const server = createServer().listen(join(template, "pgdata", "unreadable"));
  onTestFinished(() => void server.close());
  await once(server, "listening");
  await prepareCluster(data, { template });
  expect(readdirSync(data)).toEqual(["pgdata"]);
  await (await openEmbedded(data)).close();
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

test.each([
  ["which copies the template", "hold"],
  ["without a template", "initdb"],
] as const)(
  "kill -9 at any moment of a first start %s leaves a directory that opens",
  {
    timeout: SLOW,
  },
  async (_how, mode) => {
    const files = () => contents().length;
    const moments: [string, () => boolean][] = [
      ["something is there", () => files() > 0],
      ["the side directory is there", () => contents().some((name) => /init-[^/]+$/.test(name))],
      ["the copy is at a half", () => files() > 500],
      [
        "the copy says which version it is",
        () => contents().some((name) => name.endsWith("VERSION")),
      ],
      ["the cluster is in its place", () => existsSync(join(directory.path, "pgdata"))],
    ];
    for (const [moment, isReached] of moments) {
      const child = startProcess(directory.path, mode);
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
  },
);

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
