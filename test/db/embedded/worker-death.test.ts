import { renameSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startDatabase, temporaryDirectory } from "./embedded-fixture.ts";

const directory = temporaryDirectory();
let running: Awaited<ReturnType<typeof startDatabase>>;

beforeAll(async () => {
  running = await startDatabase(directory.path);
  await running.sql`create table notes (id int primary key)`;
});

beforeEach(async () => {
  running.deaths.length = 0;
  await running.sql`delete from notes`;
});

afterAll(async () => {
  await running.stop();
  directory.dispose();
});

const IN_DOUBT = { code: "57P02", message: expect.stringMatching(/may or may not/) };
const LOST = { code: "57P02", message: expect.stringMatching(/nothing of it was stored/) };

async function ids(): Promise<number[]> {
  return (await running.sql`select id from notes order by id`).map(({ id }) => id);
}

test("queries that wait for a dying worker reject, and the next ones are answered by another", async () => {
  const { sql, deaths } = running;
  await sql`insert into notes values (1)`;
  const slow = sql`select count(*) from generate_series(1, 3000000)`.execute();
  const behind = sql`insert into notes values (2)`.execute();
  setImmediate(() => void running.killWorker());
  const outcomes = await Promise.allSettled([slow, behind]);
  expect(outcomes).toMatchObject([{ reason: IN_DOUBT }, { reason: IN_DOUBT }]);
  expect(await ids()).toEqual([1]);
  expect(deaths).toHaveLength(1);
});

test("queries sent while the next worker starts wait for it", async () => {
  const { sql } = running;
  const slow = sql`select count(*) from generate_series(1, 3000000)`.execute();
  setImmediate(() => void running.killWorker());
  await expect(slow).rejects.toMatchObject(IN_DOUBT);
  const waiting = Array.from({ length: 20 }, (_, i) => sql`insert into notes values (${i})`);
  await Promise.all(waiting);
  expect(await ids()).toHaveLength(20);
  // And what was answered then is not owed any more at the next death.
  const again = sql`select count(*) from generate_series(1, 3000000)`.execute();
  setImmediate(() => void running.killWorker());
  await expect(again).rejects.toMatchObject(IN_DOUBT);
  expect(await ids()).toHaveLength(20);
});

test("a client that waits to be connected when the worker dies is connected to the next one", async () => {
  const busy = running.sql`select count(*) from generate_series(1, 30000000)`.execute();
  await running.sql.end({ timeout: 0 });
  await expect(busy).rejects.toMatchObject({ code: "CONNECTION_DESTROYED" });

  const { driverOptions } = running.database;
  const written = vi.fn<() => void>();
  const socket = () => {
    const stream = driverOptions.socket();
    const write = stream.write.bind(stream) as (chunk: Buffer) => boolean;
    stream.write = (chunk: Buffer) => {
      written();
      return write(chunk);
    };
    return stream;
  };
  const watched = { ...driverOptions, socket };
  running.sql = postgres(watched) as postgres.Sql;
  const first = running.sql`select 1 as n`.execute();
  await vi.waitUntil(() => written.mock.calls.length > 0, { interval: 1 });
  await running.killWorker();
  expect([...(await first)]).toEqual([{ n: 1 }]);
  expect(running.deaths).toHaveLength(1);
});

test("a transaction that loses its worker between two statements fails whole", async () => {
  const { sql, deaths } = running;
  const outcome = sql.begin(async (tx) => {
    await tx`insert into notes values (1)`;
    await running.killWorker();
    await expect.poll(() => deaths).toHaveLength(1);
    await tx`insert into notes values (2)`;
  });
  await expect(outcome).rejects.toMatchObject(LOST);
  expect(await ids()).toEqual([]);
});

test("a transaction that swallows the loss cannot write outside it", async () => {
  const { sql, deaths } = running;
  const outcome = sql.begin(async (tx) => {
    await tx`insert into notes values (1)`;
    await running.killWorker();
    await expect.poll(() => deaths).toHaveLength(1);
    for (const id of [2, 3]) await tx`insert into notes values (${id})`.catch(() => {});
    await tx.savepoint((inner) => inner`insert into notes values (4)`).catch(() => {});
  });
  await expect(outcome).rejects.toMatchObject({ code: "57P02" });
  expect(await ids()).toEqual([]);
});

test("a COMMIT after the worker died is an error, not a silent rollback", async () => {
  const { sql, deaths } = running;
  const outcome = sql.begin(async (tx) => {
    await tx`insert into notes values (1)`;
    await running.killWorker();
    await expect.poll(() => deaths).toHaveLength(1);
  });
  await expect(outcome).rejects.toMatchObject(LOST);
  expect(await ids()).toEqual([]);
});

test("others go on while a lost transaction is still being ended", async () => {
  const { sql, deaths } = running;
  const { promise: othersDone, resolve: release } = Promise.withResolvers<void>();
  const outcome = sql.begin(async (tx) => {
    await tx`insert into notes values (1)`;
    await running.killWorker();
    await expect.poll(() => deaths).toHaveLength(1);
    await tx`select 1`.catch(() => {});
    await othersDone;
  });
  // One connection: what others ask for waits until the transaction is over.
  const other = sql.begin(async (tx) => {
    await tx`insert into notes values (5)`;
    await tx`insert into notes values (6)`;
  });
  release();
  await expect(outcome).rejects.toMatchObject({ code: "57P02" });
  await other;
  expect(await ids()).toEqual([5, 6]);
});

test.each([
  // The nested comment hides this COPY from the check that refuses it.
  ["exits", "/* /* */ */ copy notes from stdin"],
  ["overflows its stack", `select '${"[".repeat(5_000_000)}'::json`],
])("an engine that %s is replaced, and no query gets another's answer", async (_, sql) => {
  const outcomes = await Promise.allSettled([
    running.sql.unsafe(sql),
    running.sql`select 1 as behind`,
  ]);
  expect(outcomes).toMatchObject([{ reason: IN_DOUBT }, { reason: IN_DOUBT }]);
  expect([...(await running.sql`select 2 as next`)]).toEqual([{ next: 2 }]);
  expect(running.deaths).toHaveLength(1);
});

test("JSON nested 200,000 deep and a function without end are answered, not fatal", async () => {
  const { sql, deaths } = running;
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  const [row] = await sql.unsafe(`select length('${deep}'::json::text) as n`);
  expect(row).toEqual({ n: 400_000 });
  await sql.unsafe(
    "create function endless(i int) returns int language plpgsql as 'begin return endless(i + 1); end'",
  );
  await expect(sql`select endless(1)`).rejects.toMatchObject({ code: "54001" });
  expect(deaths).toEqual([]);
});

test("5 deaths in a row under load lose nothing acknowledged", async () => {
  const { sql, deaths } = running;
  const acknowledged = new Set<number>();
  const refused = new Set<number>();
  let next = 0;
  const isOver = () => deaths.length >= 5;
  const writer = async () => {
    while (!isOver()) {
      next += 1;
      const id = next;
      const write =
        id % 2 === 0
          ? sql`insert into notes values (${id})`
          : sql.begin(async (tx) => {
              await tx`insert into notes values (${id})`;
              await tx`insert into notes values (${-id})`;
            });
      await write.then(
        () => acknowledged.add(id),
        () => refused.add(id),
      );
      if (id % 40 === 0) void running.killWorker();
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  const kept = new Set(await ids());
  expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  expect([...kept].filter((id) => id % 2 !== 0 && !kept.has(-id))).toEqual([]);
  expect(refused.size).toBeGreaterThan(0);
});

test("a database deleted under the server is missed, not replaced by an empty one", async () => {
  const { sql, deaths } = running;
  const pgdata = join(directory.path, "pgdata");
  renameSync(pgdata, `${pgdata}.moved`);
  await running.killWorker();
  await expect.poll(() => deaths).toHaveLength(1);
  await expect(sql`select 1`).rejects.toMatchObject({
    code: "57P03",
    message: `the embedded database cannot start: there is no database in ${pgdata} any more`,
  });
  // And once the reason is gone, the next query is answered.
  renameSync(`${pgdata}.moved`, pgdata);
  expect(await ids()).toEqual([]);
});
