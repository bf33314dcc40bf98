import type { Engine } from "./databases.ts";
import type { Table } from "./table.ts";

export interface BenchmarkOptions {
  /** Measured one after the other. */
  readonly engines: readonly Engine[];
  /** Rows of one person; the default is the benchmark's own. */
  readonly rows: readonly number[] | undefined;
  /** Seconds of measuring for each line of the table; the default is the benchmark's own. */
  readonly seconds: number | undefined;
  /** Progress, for a person who waits. */
  readonly say: (line: string) => void;
  /** Aborts when the run is interrupted: stop and remove what was made. */
  readonly signal: AbortSignal;
}

interface Report {
  /** What was measured on, besides the machine. */
  readonly databases: readonly string[];
  readonly tables: readonly Table[];
  /** The same figures for machines; milliseconds unless the name says otherwise. */
  readonly json: Readonly<Record<string, unknown>>;
}

export type Benchmark = (options: BenchmarkOptions) => Promise<Report>;
