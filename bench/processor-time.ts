import { readdirSync, readFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import type { Services } from "./services.ts";

const OWN = "/proc/self/task";
const MAIN = `${OWN}/${process.pid}`;

/**
 * How long processors worked, as Linux counts it for each thread: unlike the clock it leaves out waiting for a processor
 * that other work had. It leaves out waiting for disks too, and sees no server on another machine.
 */
export class ProcessorTime {
  readonly #backends: readonly string[];

  private constructor(backends: readonly string[]) {
    this.#backends = backends;
  }

  /** @returns one for what is connected now */
  static async of({ database }: Services): Promise<ProcessorTime> {
    if (database.kind === "embedded") return new ProcessorTime([]);
    const rows = await database.transactions.system("operator", (tx) =>
      tx.execute<{ pid: number }>(
        sql`select pid from pg_stat_activity where datname = current_database()`,
      ),
    );
    return new ProcessorTime(rows.map(({ pid }) => `/proc/${pid}`));
  }

  /**
   * Of this thread and the busiest of those that it waits for, as if never both at once.
   *
   * @param by where the other threads are
   * @returns a function that tells the milliseconds since
   */
  start(by: "process" | "database"): () => number {
    const others =
      by === "database" && this.#backends.length > 0
        ? this.#backends
        : readdirSync(OWN)
            .map((name) => `${OWN}/${name}`)
            .filter((path) => path !== MAIN);
    const before = new Map([...others, MAIN].map((path) => [path, ranOf(path)]));
    return () => {
      const since = (path: string) => ranOf(path) - (before.get(path) ?? 0);
      return since(MAIN) + Math.max(0, ...others.map(since));
    };
  }
}

/** Milliseconds; 0 of a thread that is over. */
function ranOf(path: string): number {
  try {
    return Number(readFileSync(`${path}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}
