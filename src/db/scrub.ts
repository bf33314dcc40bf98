import type { Database, Session } from "./client.ts";

/** A table that others read for so long is tried again. */
const LOCK_TIMEOUT = "5s";
const TRIES = 5;
/** A log that does not come to an end with so many new files is somebody else's work. */
const MOST_SEGMENTS = 2_000;

export interface Scrubbed {
  readonly tables: readonly string[];
  readonly statistics: boolean;
  readonly log: boolean;
  /** In sentences: what could not be done or seen from here. */
  readonly unverified: readonly string[];
}

/** Thrown when a table could not be had for itself; nothing is lost, the next run begins anew. */
export class TableBusy extends Error {
  override readonly name = "TableBusy";
}

const NO_RIGHTS = "42501";
const NO_FUNCTION = "42883";
const NOT_AVAILABLE = "55P03";

/**
 * Takes the bytes of deleted and overwritten rows out of the database's files: writes every table anew with its indexes and
 * what it keeps outside its rows, has the planner take its samples anew, and then fills the write-ahead log until no file
 * from before is left. A plain VACUUM leaves most bytes where they are.
 *
 * @throws TableBusy
 */
export function scrubDatabase(database: Database): Promise<Scrubbed> {
  return database.session(async (session) => {
    const unverified: string[] = [];
    const tables = await rewrite(session, unverified);
    const statistics = await renewStatistics(session, unverified);
    const log = await turnLogOver(session, unverified);
    unverified.push(...(await whatElseThereIs(session)));
    return { tables, statistics, log, unverified };
  });
}

/** The size of all tables with what belongs to them, in bytes. */
export function databaseSize(database: Database): Promise<number> {
  return database.session(async ({ run }) => {
    const [row] = await run<{ size: string }>(`
      select coalesce(sum(pg_total_relation_size(oid)), 0)::text as size from pg_class
      where relkind in ('r', 'm') and relnamespace = current_schema()::regnamespace`);
    return Number(row?.size ?? 0);
  });
}

async function rewrite(session: Session, unverified: string[]): Promise<string[]> {
  const { run } = session;
  const rows = await run<{ name: string }>(`
    select quote_ident(relname) as name from pg_class
    where relkind in ('r', 'm') and relnamespace = current_schema()::regnamespace order by relname`);
  const names = rows.map(({ name }) => name);
  const rewritten: string[] = [];
  await run(`set lock_timeout to '${LOCK_TIMEOUT}'`);
  try {
    for (const name of names) {
      const dead = await rewriteOne(session, name);
      if (dead === undefined) {
        unverified.push(
          `${name} belongs to another login, which alone may write it anew: as its owner run VACUUM FULL ${name}`,
        );
        continue;
      }
      rewritten.push(name);
      if (dead > 0) {
        unverified.push(
          `${dead} deleted rows of ${name} are still seen by a transaction that was open, a replica or a prepared transaction`,
        );
      }
    }
  } finally {
    await run("reset lock_timeout");
  }
  return rewritten;
}

/** @returns how many deleted rows somebody may still see, so that they were copied; undefined for a table of somebody else */
async function rewriteOne({ run, notices }: Session, name: string): Promise<number | undefined> {
  for (let attempt = 1; ; attempt++) {
    const before = await fileOf(run, name);
    notices.length = 0;
    try {
      await run(`vacuum (full, verbose) ${name}`);
    } catch (error) {
      if (codeOf(error) !== NOT_AVAILABLE) throw error;
      if (attempt === TRIES) throw new TableBusy(name, { cause: error });
      continue;
    }
    // Refused, it is passed over with a warning. To try again would not help.
    if ((await fileOf(run, name)) === before) {
      if (await isOthers(run, name)) return undefined;
      throw new TableBusy(name);
    }
    const said = notices.map(({ detail }) => /^(\d+) /.exec(detail ?? "")?.[1] ?? "0");
    return Math.max(0, ...said.map(Number));
  }
}

async function isOthers(run: Session["run"], name: string): Promise<boolean> {
  const [row] = await run<{ others: boolean }>(
    `select not pg_has_role(relowner, 'usage') as others from pg_class where oid = to_regclass('${name.replaceAll("'", "''")}')`,
  );
  return row?.others ?? false;
}

async function fileOf(run: Session["run"], name: string): Promise<string | undefined> {
  const [row] = await run<{ file: string }>(
    `select pg_relation_filenode(to_regclass('${name.replaceAll("'", "''")}'))::text as file`,
  );
  return row?.file;
}

/** The planner keeps samples of values, texts among them; of a table that is empty now it keeps the old ones. */
async function renewStatistics({ run }: Session, unverified: string[]): Promise<boolean> {
  const told = unverified.length;
  if (!(await forgetSamples(run))) {
    unverified.push(
      "the planner's samples of tables that are empty now: the login may not delete them (before PostgreSQL 18 a superuser may)",
    );
  }
  await run("analyze");
  const before = await fileOf(run, "pg_catalog.pg_statistic");
  await run("vacuum full pg_catalog.pg_statistic").catch(unlessDenied);
  if ((await fileOf(run, "pg_catalog.pg_statistic")) === before) {
    unverified.push(
      "the planner's samples (pg_statistic) were made anew, but the login may not rewrite that table: as the database's owner run VACUUM FULL pg_catalog.pg_statistic",
    );
  }
  return unverified.length === told;
}

/** @returns false where the login may not */
async function forgetSamples(run: Session["run"]): Promise<boolean> {
  const ways = [
    "delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)",
    "select pg_clear_attribute_stats(schemaname, tablename, attname, inherited) from pg_stats where schemaname = current_schema()",
  ];
  for (const way of ways) {
    if ((await run(way).catch(unlessDenied)) !== undefined) return true;
  }
  return false;
}

/** @returns undefined for what the login may not do, or this PostgreSQL cannot */
function unlessDenied(error: unknown): undefined {
  if (![NO_RIGHTS, NO_FUNCTION].includes(codeOf(error) ?? "")) throw error;
}

/**
 * Files of the log are used again with their old bytes in them. Two rounds through all that are there: the second one goes
 * through those that the first one's checkpoint renamed.
 */
async function turnLogOver({ run }: Session, unverified: string[]): Promise<boolean> {
  try {
    const [first] = await run<{ name: string }>(
      "select pg_walfile_name(pg_current_wal_insert_lsn()) as name",
    );
    for (let round = 0; round < 2; round++) {
      await run("checkpoint");
      const [last] = await run<{ name: string }>("select max(name) as name from pg_ls_waldir()");
      for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
        const [now] = await run<{ name: string }>(
          "select pg_walfile_name(pg_current_wal_insert_lsn()) as name",
        );
        if ((now?.name ?? "") > (last?.name ?? "")) break;
        await run("select pg_logical_emit_message(false, 'souvenir', 'scrub')");
        await run("select pg_switch_wal()");
      }
      await run("checkpoint");
    }
    const [older] = await run<{ count: string }>(
      `select count(*)::text as count from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$' and name <= '${first?.name ?? ""}'`,
    );
    if (older?.count === "0") return true;
    unverified.push(
      `${older?.count} files of the write-ahead log from before are kept for a replica, a slot or an archive`,
    );
  } catch (error) {
    if (codeOf(error) !== NO_RIGHTS) throw error;
    unverified.push(
      "the write-ahead log could not be turned over: the login lacks the rights (pg_checkpoint, pg_monitor and EXECUTE on pg_switch_wal); it goes on holding old bytes until the server has written over them",
    );
  }
  return false;
}

/** What holds copies by its nature, in sentences. */
async function whatElseThereIs({ run }: Session): Promise<string[]> {
  const [row] = await run<{ replicas: string; archive: string; statements: string }>(`
    select (select count(*) from pg_stat_replication)::text as replicas,
      current_setting('archive_mode') as archive, current_setting('log_statement') as statements`);
  return [
    ...(row && row.replicas !== "0"
      ? [`${row.replicas} replicas: they follow, but their files cannot be looked into from here`]
      : []),
    ...(row && row.archive !== "off" ? ["archived files of the write-ahead log"] : []),
    ...(row && row.statements !== "none" ? ["PostgreSQL's own log, which tells statements"] : []),
    "backups, and blocks that the file system freed",
  ];
}

function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error
    ? String(error.code)
    : undefined;
}
