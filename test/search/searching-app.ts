import { sql } from "drizzle-orm";
import { onTestFinished } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { createDatabase, type Engine } from "../support/database.ts";

const PERSON = "telegram:5000000001";

interface Found {
  readonly key?: string;
  readonly text?: string;
  readonly value?: unknown;
  readonly cosine: number | null;
}

export interface Recalled {
  readonly degraded?: string;
  readonly facts: readonly (Found & { readonly factId: string })[];
  readonly messages: readonly Found[];
}

/** A database for servers that are started on it one after the other; it goes with the test. */
export async function databaseOfTest(engine: Engine) {
  const { env, dispose } = await createDatabase(engine);
  onTestFinished(dispose);
  return env;
}

/** A server over `database` with a clock that is moved by hand, of which the log is kept. Jobs run when they are told to. */
export async function openSearching(
  engine: Engine,
  database: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  clock = new TestClock(),
) {
  const log: { readonly level: number; readonly msg: string }[] = [];
  const app = await openApp(engine, {
    clock: clock.now,
    background: false,
    database,
    env: { LOG_LEVEL: "info", ...env },
    logStream: { write: (line) => void log.push(JSON.parse(line)) },
  });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await app.dispose();
    isOpen = false;
  };
  onTestFinished(close);
  return { app, clock, close, ...shortcuts(app, clock), said: () => log.map(({ msg }) => msg) };
}

function shortcuts(app: TestApp, clock: TestClock) {
  const query = <T extends Record<string, unknown>>(text: string) =>
    app.database.transactions.system("operator", (tx) => tx.execute<T>(sql.raw(text)));
  return {
    query,
    async count(table: string): Promise<number> {
      const [row] = await query<{ n: number }>(`select count(*)::int as n from ${table}`);
      return row?.n ?? -1;
    },
    async remember(key: string, value: unknown, apiKey?: string): Promise<string> {
      const fact = { scope: "user", userId: PERSON, key, value };
      return String((await app.ok("remember_fact", fact, apiKey)).factId);
    },
    async recall(text: string, apiKey?: string): Promise<Recalled> {
      const answer = await app.ok("recall", { userId: PERSON, query: text }, apiKey);
      return answer as unknown as Recalled;
    },
    /** Lets so much time pass and then runs what is due. */
    async later(milliseconds: number): Promise<void> {
      clock.advance(milliseconds);
      await app.jobs.runDue();
    },
    async waiting(): Promise<number> {
      const { body } = await app.http.inject({ url: "/metrics", headers: { host: "localhost" } });
      return Number(/^souvenir_documents_waiting_for_vectors (\d+)$/m.exec(body)?.[1]);
    },
  };
}

/** How near the fact of a key is to the query; undefined where it is not in the answer. */
export function cosineOf({ facts }: Recalled, key: string): number | null | undefined {
  return facts.find((fact) => fact.key === key)?.cosine;
}
