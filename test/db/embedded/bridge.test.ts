import { afterAll, beforeAll, expect, test } from "vitest";
import { POSTGRES_MAJOR } from "../../../src/db/embedded/data-directory.ts";
import { connect, startDatabase, temporaryDirectory } from "./embedded-fixture.ts";

const directory = temporaryDirectory();
let running: Awaited<ReturnType<typeof startDatabase>>;

beforeAll(async () => {
  running = await startDatabase(directory.path);
  await running.sql`create table notes (id int primary key, body text)`;
});

afterAll(async () => {
  expect(running.deaths).toEqual([]);
  await running.stop();
  directory.dispose();
});

test("it is the PostgreSQL the version check expects, with the memory and WAL bounds asked for", async () => {
  const { sql } = running;
  const [version] = await sql`show server_version_num`;
  expect(Math.trunc(Number(version?.server_version_num) / 10_000)).toBe(Number(POSTGRES_MAJOR));
  const bounds = await sql`
    select name, current_setting(name) as value from pg_settings
    where name in ('shared_buffers', 'max_wal_size', 'min_wal_size') order by name`;
  expect(bounds.map(({ name, value }) => [name, value])).toEqual([
    ["max_wal_size", "64MB"],
    ["min_wal_size", "32MB"],
    ["shared_buffers", "32MB"],
  ]);
});

test("1,000 queries at once each get their own answer", async () => {
  const { sql } = running;
  const answers = await Promise.all(
    Array.from(
      { length: 1_000 },
      (_, i) => sql`select ${i}::int as i, repeat('x', ${i % 97}) as x`,
    ),
  );
  expect(answers.map(([row]) => [row?.i, row?.x.length])).toEqual(
    answers.map((_, i) => [i, i % 97]),
  );
});

test("a failing query among others fails alone", async () => {
  const { sql } = running;
  const answers = await Promise.allSettled([
    sql`select 1 as n`,
    sql`select ${1}::int / 0`,
    sql`select no_such_column`,
    sql`select 2 as n`,
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "fulfilled",
  ]);
  expect(answers[1]).toMatchObject({ reason: { code: "22012", message: "division by zero" } });
});

test("a transaction commits whole, a failing one leaves nothing, a savepoint undoes its part", async () => {
  const { sql } = running;
  await sql.begin(async (tx) => {
    await tx`insert into notes values (1, 'kept')`;
    await tx
      .savepoint(async (inner) => {
        await inner`insert into notes values (2, 'undone')`;
        throw new Error("inner");
      })
      .catch(() => {});
    await tx`insert into notes values (3, 'kept')`;
  });
  const failing = sql.begin(async (tx) => {
    await tx`insert into notes values (4, 'lost')`;
    await tx`insert into notes values (1, 'duplicate')`;
  });
  await expect(failing).rejects.toMatchObject({ code: "23505" });
  expect([...(await sql`select id from notes order by id`)]).toEqual([{ id: 1 }, { id: 3 }]);
});

test("50 transactions at once, every second one failing, keep apart", async () => {
  const { sql } = running;
  await sql`create table pairs (id int, half int)`;
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, id) =>
      sql.begin(async (tx) => {
        await tx`insert into pairs values (${id}, 1)`;
        if (id % 2 === 1) throw new Error("on purpose");
        await tx`insert into pairs values (${id}, 2)`;
      }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(25);
  const rows = await sql`select id, count(*)::int as n from pairs group by id order by id`;
  expect([...rows]).toEqual(Array.from({ length: 25 }, (_, i) => ({ id: 2 * i, n: 2 })));
});

test("statements sent together in a transaction arrive in their order", async () => {
  const { sql } = running;
  const [, , rows] = await sql.begin((tx) => [
    tx`insert into notes values (10, 'a')`,
    tx`update notes set body = body || 'b' where id = 10`,
    tx`select body from notes where id = 10`,
  ]);
  expect(rows?.[0]).toEqual({ body: "ab" });
});

test("several statements in one text run as one", async () => {
  const results = await running.sql.unsafe("select 1 as a; select 2 as b; select 3 as c");
  expect(results.map(([row]) => row)).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
});

test("a 5 MB parameter goes in and a 20 MB result comes out, unchanged", async () => {
  const { sql } = running;
  const large = "né€😀".repeat(416_667);
  const [row] = await sql`select ${large}::text as text`;
  expect(row?.text === large).toBe(true);
  const rows =
    await sql`select i, repeat(i::text, 2000) as text from generate_series(1000, 3499) i`;
  expect(rows.every(({ i, text }) => text === String(i).repeat(2_000))).toBe(true);
  expect(rows).toHaveLength(2_500);
});

test("a cursor reads a result part by part, and may stop early", async () => {
  const { sql } = running;
  const sizes: number[] = [];
  await sql`select generate_series(1, 250) as i`.cursor(
    100,
    (rows) => void sizes.push(rows.length),
  );
  expect(sizes).toEqual([100, 100, 50]);
  for await (const rows of sql`select generate_series(1, 250) as i`.cursor(10)) {
    expect(rows).toHaveLength(10);
    break;
  }
  expect([...(await sql`select 1 as after`)]).toEqual([{ after: 1 }]);
});

test("COPY FROM STDIN is refused with a sentence, outside and inside a transaction", async () => {
  const { sql } = running;
  const refused = { code: "0A000", message: /not available in the embedded database/ };
  await expect(sql.unsafe("copy notes from stdin")).rejects.toMatchObject({ code: refused.code });
  await expect(sql`COPY notes (id) FROM STDIN`.writable()).rejects.toThrow(refused.message);
  const inside = sql.begin(async (tx) => {
    await tx`insert into notes values (20, 'lost')`;
    await tx`copy notes from stdin`;
  });
  await expect(inside).rejects.toThrow(refused.message);
  expect([...(await sql`select id from notes where id = 20`)]).toEqual([]);
});

test("COPY TO STDOUT streams", async () => {
  const stream = await running.sql`copy (select generate_series(1, 3)) to stdout`.readable();
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  expect(text).toBe("1\n2\n3\n");
});

test("a second connection is refused with a sentence, and the first goes on", async () => {
  const second = connect(running.database);
  await expect(second`select 1`).rejects.toThrow("the embedded database has one connection");
  await second.end({ timeout: 1 });
  expect([...(await running.sql`select 1 as still`)]).toEqual([{ still: 1 }]);
});

test("cancelling a query that runs changes nothing", async () => {
  const { sql } = running;
  const slow = sql`select count(*)::int as n from generate_series(1, 300000)`.execute();
  const cancelled = sql`select count(*)::int as n from generate_series(1, 300000)`.execute();
  setImmediate(() => cancelled.cancel());
  expect([...(await slow)]).toEqual([{ n: 300_000 }]);
  expect([...(await cancelled)]).toEqual([{ n: 300_000 }]);
  expect([...(await sql`select 1 as after`)]).toEqual([{ after: 1 }]);
});

test("a new client finds no trace of the one before it", async () => {
  const { sql } = running;
  await sql`set work_mem = '1MB'`;
  await sql`create temp table leftover (i int)`;
  const { promise: isInside, resolve: entered } = Promise.withResolvers<void>();
  const unfinished = sql.begin(async (tx) => {
    await tx`insert into notes values (30, 'unfinished')`;
    entered();
    await new Promise(() => {});
  });
  await isInside;
  await sql.end({ timeout: 0 });
  await expect(unfinished).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });

  running.sql = connect(running.database);
  const [state] = await running.sql`
    select current_setting('work_mem') as work_mem, to_regclass('pg_temp.leftover') as leftover,
           (select count(*)::int from notes where id = 30) as unfinished`;
  expect(state).toEqual({ work_mem: "4MB", leftover: null, unfinished: 0 });
});
