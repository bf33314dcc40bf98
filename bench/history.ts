import type { Principal } from "../src/access/principal.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type DatabaseHost, type Engine, openHost } from "./databases.ts";
import { seedMessages, seedOwner, seedPerson, sentAt, settle } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import { median, quantile, rotated } from "./statistics.ts";
import { count, figure, type Table } from "./table.ts";

const ROWS = [10_000, 100_000, 1_000_000];
const SECONDS = 10;
const PAGE = 50;
/** Calls in a row on one database before the next one has its turn. */
const TURN = 10;
/** Places to read in the middle of a history: one alone would always be in the buffers. */
const CURSORS = 64;
/** What "does not grow with the history" means here. */
const FLAT = 1.3;

interface Subject {
  readonly rows: number;
  readonly pages: readonly Page[];
}

interface Page {
  readonly name: string;
  readonly read: () => Promise<unknown>;
  /** Milliseconds. */
  readonly samples: number[];
}

interface Line {
  readonly page: string;
  readonly rows: number;
  readonly samples: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  /** Median against that of the smallest history. */
  readonly ratio: number;
}

interface Result {
  readonly engine: Engine;
  readonly database: string;
  readonly lines: readonly Line[];
  /** null where there is nothing to compare. */
  readonly flat: boolean | null;
}

/** How long a page of a person's history takes as the history grows, read through the chat service as the app's role. */
export const history: Benchmark = async (options) => {
  const databases: string[] = [];
  const results: Result[] = [];
  for (const engine of options.engines) {
    const host = await openHost(engine);
    try {
      databases.push(host.description);
      const lines = await measure(host, options);
      results.push({ engine, database: host.name, lines, flat: isFlat(lines) });
    } finally {
      await host.close();
    }
  }
  return {
    databases,
    tables: results.map(tableOf),
    json: { benchmark: "history", pageOf: PAGE, flatWithin: FLAT, results },
  };
};

async function measure(host: DatabaseHost, options: BenchmarkOptions): Promise<Line[]> {
  const subjects: Subject[] = [];
  const opened: Services[] = [];
  try {
    for (const rows of options.rows ?? ROWS) {
      options.say(`${host.name}: ${count(rows)} messages of one person`);
      const services = await openServices(await host.create());
      opened.push(services);
      subjects.push(await prepare(services, rows, options));
    }
    const cases = subjects.flatMap(({ pages }) => pages);
    for (const page of cases) await turn(page);
    for (const { samples } of cases) samples.length = 0;
    options.say(`${host.name}: reading pages`);
    const end = performance.now() + (options.seconds ?? SECONDS) * 1000 * cases.length;
    for (let round = 0; performance.now() < end; round++) {
      options.signal.throwIfAborted();
      for (const page of rotated(cases, round)) await turn(page);
    }
    return linesOf(subjects);
  } finally {
    for (const { database } of opened) await database.close();
  }
}

async function prepare(
  services: Services,
  rows: number,
  options: BenchmarkOptions,
): Promise<Subject> {
  const owner = await seedOwner(services);
  const person = await seedPerson(services, owner, "telegram:5000000001");
  await seedMessages(services, owner, person, rows, options);
  await settle(services);
  const cursors = await middle(services, owner, person.userId, rows);
  const newest = () => services.chat.history(owner, person.userId, { limit: PAGE });
  const older = () => {
    const before = cursors[Math.floor(Math.random() * cursors.length)];
    return services.chat.history(owner, person.userId, { limit: PAGE, before });
  };
  return {
    rows,
    pages: [
      { name: "newest", read: newest, samples: [] },
      { name: "by cursor, in the middle", read: older, samples: [] },
    ],
  };
}

/** Cursors spread over the middle fifth of a history, each from the page before it, as a client has them. */
async function middle(
  { chat }: Services,
  owner: Principal,
  userId: string,
  rows: number,
): Promise<string[]> {
  const cursors: string[] = [];
  for (let i = 0; i < CURSORS; i++) {
    const before = sentAt(Math.ceil(rows * (0.4 + (0.2 * i) / CURSORS))).toISOString();
    const { nextBefore } = await chat.history(owner, userId, { limit: 1, before });
    if (nextBefore !== null) cursors.push(nextBefore);
  }
  return cursors;
}

async function turn({ read, samples }: Page): Promise<void> {
  for (let i = 0; i < TURN; i++) {
    const start = performance.now();
    await read();
    samples.push(performance.now() - start);
  }
}

function linesOf(subjects: readonly Subject[]): Line[] {
  const names = subjects[0]?.pages.map(({ name }) => name) ?? [];
  return names.flatMap((name, page) => {
    const samplesOf = (subject: Subject | undefined) => subject?.pages[page]?.samples ?? [];
    const smallest = median(samplesOf(subjects[0]));
    return subjects.map((subject) => {
      const samples = samplesOf(subject);
      return {
        page: name,
        rows: subject.rows,
        samples: samples.length,
        min: quantile(samples, 0),
        median: median(samples),
        p95: quantile(samples, 0.95),
        ratio: median(samples) / smallest,
      };
    });
  });
}

function isFlat(lines: readonly Line[]): boolean | null {
  if (new Set(lines.map(({ rows }) => rows)).size < 2) return null;
  return lines.every(({ ratio }) => ratio <= FLAT);
}

function tableOf({ database, lines, flat }: Result): Table {
  const verdict = flat === null ? [] : [`Flat within ${FLAT}×: ${flat ? "yes" : "NO"}.`];
  return {
    title: `One page of ${PAGE} messages as one person's history grows, on ${database}`,
    columns: ["page", "messages", "calls", "min ms", "median ms", "p95 ms", "median ratio"],
    rows: lines.map((line) => [
      line.page,
      count(line.rows),
      count(line.samples),
      figure(line.min),
      figure(line.median),
      figure(line.p95),
      `${figure(line.ratio)}×`,
    ]),
    notes: [
      "Each size is a database of its own, the sizes are read in turns, one call at a time, through the chat service",
      "(row-level security, one transaction a call). The ratio is to the smallest history.",
      ...verdict,
    ],
  };
}
