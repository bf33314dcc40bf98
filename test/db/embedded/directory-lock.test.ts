import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { LOCK_FILE, lockDirectory, OWNER_FILE } from "../../../src/db/embedded/directory-lock.ts";
import { openEmbedded } from "../../../src/db/embedded/embedded.ts";
import { startProcess, temporaryDirectory } from "./embedded-fixture.ts";

/** Has a database in it, which takes seconds to make; the others are empty. */
const withDatabase = temporaryDirectory();
let directory: ReturnType<typeof temporaryDirectory>;
let processes: ReturnType<typeof startProcess>[] = [];

beforeAll(async () => {
  await (await openEmbedded(withDatabase.path)).close();
});

afterAll(() => {
  withDatabase.dispose();
});

beforeEach(() => {
  directory = temporaryDirectory();
  processes = [];
});

afterEach(async () => {
  await Promise.all(processes.map((each) => each.kill()));
  directory.dispose();
});

function start(path: string) {
  const started = startProcess(path);
  processes.push(started);
  return started;
}

test("a second process is refused at once, told the pid and the path, and changes nothing", {
  timeout: 180_000,
}, async () => {
  const { path } = withDatabase;
  const owner = start(path);
  await owner.answer().toBe("open");
  const before = readdirSync(path, { recursive: true }).sort();

  const second = start(path);
  await second
    .answer()
    .toBe(`refused: The data directory ${path} is in use by process ${owner.pid}.`);
  await second.ended;
  await expect(openEmbedded(path)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining(`process ${owner.pid}`),
  });
  expect(readdirSync(path, { recursive: true }).sort()).toEqual(before);

  await owner.kill();
  await (await openEmbedded(path)).close();
});

test("12 processes that start right after a kill -9 leave exactly one owner, whom the others name", {
  timeout: 180_000,
}, async () => {
  const { path } = withDatabase;
  const killed = start(path);
  await killed.answer().toBe("open");
  await killed.kill();

  const rivals = Array.from({ length: 12 }, () => start(path));
  for (const rival of rivals) await rival.answer().toBeDefined();
  const owners = rivals.filter(({ lines }) => lines[0] === "open");
  expect(owners).toHaveLength(1);
  const refusals = rivals.filter((rival) => rival !== owners[0]).map(({ lines }) => lines[0]);
  expect(new Set(refusals)).toEqual(
    new Set([`refused: The data directory ${path} is in use by process ${owners[0]?.pid}.`]),
  );
});

test("another path to the same directory meets the same lock", async () => {
  const lock = await lockDirectory(directory.path);
  const alias = temporaryDirectory();
  const link = join(alias.path, "link");
  symlinkSync(directory.path, link);
  await start(link)
    .answer()
    .toBe(`refused: The data directory ${link} is in use by process ${process.pid}.`);
  lock.release();
  alias.dispose();
});

test("a path longer than a unix socket's name may be is locked like any other", async () => {
  const long = join(directory.path, "d".repeat(120), "e".repeat(120));
  mkdirSync(long, { recursive: true });
  const lock = await lockDirectory(long);
  await expect(lockDirectory(long)).rejects.toThrow(`in use by process ${process.pid}`);
  lock.release();
  (await lockDirectory(long)).release();
});

test("a lock file left by a killed process is no lock, whatever pid it names", async () => {
  writeFileSync(join(directory.path, LOCK_FILE), "");
  // In a container the killed owner and its successor are both pid 1.
  writeFileSync(join(directory.path, OWNER_FILE), `${process.pid}\n`);
  const lock = await lockDirectory(directory.path);
  expect(readFileSync(join(directory.path, OWNER_FILE), "utf8")).toBe(`${process.pid}\n`);
  lock.release();
});

test("a directory that cannot be locked says so", async () => {
  mkdirSync(join(directory.path, LOCK_FILE));
  await expect(lockDirectory(directory.path)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining(`${directory.path} cannot be locked`),
  });
});
