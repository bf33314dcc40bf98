/** The process the soak kills: `load <dir>` works until it is killed, `check <dir>` looks at what is left. */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { amcheck } from "@electric-sql/pglite/contrib/amcheck";
import postgres from "postgres";
import { openEmbedded } from "../../src/db/embedded/embedded.ts";

const WRITERS = 8;
/** Rows a writer keeps; older ones are deleted, so that the soak measures time and not size. */
const KEPT = 2_000;
/** Every body can be recomputed from its key: a row that changed is seen without a copy of it. */
const BODY = "repeat(md5(writer || '.' || n || '.' || part), size)";
/** What a death of the worker may answer: in doubt or lost, and cannot start. */
const EXPECTED = new Set(["57P02", "57P03"]);

const [, , mode, directory = ""] = process.argv;
const say = (kind: string, ...values: (number | string)[]) =>
  process.stdout.write(`${[kind, ...values].join(" ")}\n`);
const violated = (what: string) => say("violation", what.replaceAll("\n", " "));

if (mode === "load") await load();
else if (mode === "check") await check();

async function load(): Promise<void> {
  let worker: Worker | undefined;
  process.on("worker", (next) => {
    worker = next;
  });
  const started = performance.now();
  const database = await openEmbedded(directory, { onWorkerDeath: () => say("death") });
  const sql = postgres({ ...database.driverOptions, fetch_types: false }) as postgres.Sql;
  await sql`create table if not exists entries (
    writer int, n int, part int, parts int, size int, body text, primary key (writer, n, part))`;
  await sql`create index if not exists entries_body on entries (md5(body), n)`;
  say("open", Math.round(performance.now() - started));
  const last = await sql`select writer, max(n)::int as n from entries group by writer`;
  const start = new Map(last.map(({ writer, n }) => [Number(writer), Number(n)]));
  void killWorkers(() => worker);
  void report();
  void maintain(sql);
  // The gap keeps numbers of writes that were in doubt from being used twice.
  for (let w = 0; w < WRITERS; w += 1) void write(sql, w, (start.get(w) ?? 0) + 1_000);
  for (let r = 0; r < 4; r += 1) void read(sql);
}

async function write(sql: postgres.Sql, writer: number, start: number): Promise<void> {
  for (let n = start; ; n += 1) {
    const kind = randomInt(10);
    const size = kind === 9 ? randomInt(1_000, 10_000) : randomInt(1, 20);
    const insert = (q: postgres.Sql | postgres.TransactionSql, part: number, parts: number) =>
      q`insert into entries select writer, n, part, parts, size, ${sql.unsafe(BODY)}
        from (values (${writer}::int, ${n}::int, ${part}::int, ${parts}::int, ${size}::int)) as v (writer, n, part, parts, size)`;
    if (kind < 5) await attempt(insert(sql, 1, 1), () => say("ack", writer, n, 1));
    else if (kind < 8 || kind === 9) {
      const all = sql.begin(async (tx) => {
        for (const part of [1, 2, 3]) await insert(tx, part, 3);
      });
      await attempt(all, () => say("ack", writer, n, 3));
    } else await failOnPurpose(sql, (tx) => insert(tx, 99, 99));
    if (n % 500 !== 0) continue;
    // Said before it is done: from here on those rows may be there or not.
    say("floor", writer, n - KEPT);
    await attempt(sql`delete from entries where writer = ${writer} and n <= ${n - KEPT}`, () => {});
  }
}

async function failOnPurpose(
  sql: postgres.Sql,
  insert: (tx: postgres.TransactionSql) => Promise<unknown>,
) {
  const outcome = sql.begin(async (tx) => {
    await insert(tx);
    await tx`select 1 / 0`;
  });
  await outcome.then(
    () => violated("a failing transaction was acknowledged"),
    (error: { code?: string }) => (error.code === "22012" ? say("undone") : refused(error)),
  );
}

async function attempt(work: Promise<unknown>, acknowledge: () => void): Promise<void> {
  await work.then(acknowledge, refused);
}

function refused(error: { code?: string; message?: string }): void {
  if (EXPECTED.has(error.code ?? "")) say("refused");
  else violated(`unexpected error ${error.code}: ${error.message}`);
}

async function read(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const writer = randomInt(WRITERS);
    const rows = sql`select writer, n, part, size, body, ${sql.unsafe(BODY)} as expected
      from entries where writer = ${writer} order by n desc limit ${randomInt(1, 20)}`;
    await rows.then((found) => {
      for (const { writer: of, n, body, expected } of found)
        if (of !== writer || body !== expected) violated(`row ${of}.${n} answers query ${writer}`);
      say("read", found.length);
    }, refused);
    await wait(randomInt(20));
  }
}

async function killWorkers(current: () => Worker | undefined): Promise<void> {
  for (;;) {
    await wait(randomInt(3_000, 15_000));
    await current()?.terminate();
  }
}

async function maintain(sql: postgres.Sql): Promise<void> {
  for (;;) {
    await wait(10_000);
    await attempt(sql`checkpoint`, () => say("maintained"));
    await attempt(sql`vacuum (analyze)`, () => {});
  }
}

async function report(): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  for (;;) {
    await wait(2_000);
    const milliseconds = (ns: number) => Math.round(ns / 1e6);
    say(
      "state",
      Math.round(process.memoryUsage.rss() / 1e6),
      milliseconds(delay.percentile(50)),
      milliseconds(delay.percentile(99)),
      milliseconds(delay.max),
    );
    delay.reset();
  }
}

async function check(): Promise<void> {
  const database = await openEmbedded(directory);
  const sql = postgres({ ...database.driverOptions, fetch_types: false }) as postgres.Sql;
  const wrong = await sql.unsafe(`select writer, n from entries where body <> ${BODY} limit 5`);
  for (const { writer, n } of wrong) violated(`row ${writer}.${n} changed`);
  const torn = await sql`select writer, n from entries
    group by writer, n having count(*) <> max(parts) or max(part) = 99 limit 5`;
  for (const { writer, n } of torn) violated(`transaction ${writer}.${n} is torn`);
  await sql`select writer, n, count(*)::int as parts from entries group by writer, n`.forEach(
    (row) => {
      say("kept", row.writer, row.n, row.parts);
    },
  );
  await sql.end();
  await database.close();

  const engine = await PGlite.create(join(directory, "pgdata"), { extensions: { amcheck } });
  await engine.exec("create extension if not exists amcheck");
  for (const index of ["entries_pkey", "entries_body"])
    await engine.query("select bt_index_parent_check($1::regclass, true, true)", [index]).then(
      () => say("index"),
      (error: Error) => violated(`${index}: ${error.message}`),
    );
  const heap = await engine.query("select * from verify_heapam('entries')");
  for (const row of heap.rows) violated(`heap: ${JSON.stringify(row)}`);
  await engine.close();
  say("checked");
  process.exit(0);
}
