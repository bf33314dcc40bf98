import { sql } from "drizzle-orm";
import type { Principal } from "../src/access/principal.ts";
import type { Benchmark, BenchmarkOptions } from "./benchmark.ts";
import { type DatabaseHost, type Engine, openHost } from "./databases.ts";
import { seedOwner, settle } from "./seed.ts";
import { openServices, type Services } from "./services.ts";
import { median, quantile, rotated } from "./statistics.ts";
import { count, figure, type Table } from "./table.ts";

const FACTS = [10_000, 100_000, 1_000_000];
const CHANGES = 1_000;
const FACTS_PER_PERSON = 100;
/** Runs of each size; the first is not counted. */
const ROUNDS = 6;
/** What "proportional to what changed" means here. */
const FLAT = 1.5;
const BATCH = 50_000;

interface Subject {
  readonly facts: number;
  readonly services: Services;
  readonly owner: Principal;
  /** Milliseconds of each run. */
  readonly samples: number[];
}

interface Line {
  readonly facts: number;
  readonly changes: number;
  readonly runs: number;
  readonly min: number;
  readonly median: number;
  /** Median against that of the fewest facts. */
  readonly ratio: number;
}

interface Result {
  readonly engine: Engine;
  readonly database: string;
  readonly lines: readonly Line[];
  /** null where there is nothing to compare. */
  readonly flat: boolean | null;
}

/** How long consolidation takes for the same number of changed facts as the facts around them grow. */
export const consolidate: Benchmark = async (options) => {
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
    json: { benchmark: "consolidate", changes: CHANGES, flatWithin: FLAT, results },
  };
};

async function measure(host: DatabaseHost, options: BenchmarkOptions): Promise<Line[]> {
  const subjects: Subject[] = [];
  try {
    for (const facts of options.rows ?? FACTS) {
      options.say(`${host.name}: ${count(facts)} facts`);
      const services = await openServices(await host.create());
      subjects.push({ facts, services, owner: await seedOwner(services), samples: [] });
      await seedFacts(subjects.at(-1) as Subject, options);
      await settle(services);
    }
    for (let round = 0; round < ROUNDS; round++) {
      options.say(`${host.name}: round ${round + 1} of ${ROUNDS}`);
      for (const subject of rotated(subjects, round)) {
        options.signal.throwIfAborted();
        await change(subject, round);
        const start = performance.now();
        const { keys } = await subject.services.consolidation.run();
        const took = performance.now() - start;
        if (keys !== CHANGES) throw new Error(`${keys} keys were due, not ${CHANGES}`);
        if (round > 0) subject.samples.push(took);
      }
    }
    const smallest = median(subjects[0]?.samples ?? []);
    return subjects.map(({ facts, samples }) => ({
      facts,
      changes: CHANGES,
      runs: samples.length,
      min: quantile(samples, 0),
      median: median(samples),
      ratio: median(samples) / smallest,
    }));
  } finally {
    for (const { services } of subjects) await services.database.close();
  }
}

/** Facts as consolidation leaves them: one statement a key, 100 keys a person, all of them fading one day. */
async function seedFacts({ facts, services, owner }: Subject, options: BenchmarkOptions) {
  const { transactions } = services.database;
  for (let from = 1; from <= facts; from += BATCH) {
    options.signal.throwIfAborted();
    const to = Math.min(facts, from + BATCH - 1);
    await transactions.tenant(owner, async (tx) => {
      await tx.execute(sql`
        insert into users (id, org_id, status, created_at)
        select ${personOf(sql`p`)}, ${owner.orgId}::uuid, 'approved', now()
        from generate_series(${Math.floor((from - 1) / FACTS_PER_PERSON)}::bigint,
          ${Math.floor((to - 1) / FACTS_PER_PERSON)}::bigint) p
        on conflict do nothing`);
      await tx.execute(statements(owner.orgId, from, to, "seed", sql`now()`));
    });
    options.say(`  ${count(to)} of ${count(facts)} facts`);
  }
}

/** Says 1,000 of the facts again, spread over all, as a server that was killed before it folded them leaves them. */
async function change({ facts, services, owner }: Subject, round: number): Promise<void> {
  const step = Math.floor(facts / CHANGES);
  await services.database.transactions.tenant(owner, (tx) =>
    tx.execute(statements(owner.orgId, 1, facts, `round${round}`, sql`null`, step, CHANGES)),
  );
}

function statements(
  orgId: string,
  from: number,
  to: number,
  source: string,
  consolidatedAt: ReturnType<typeof sql>,
  step = 1,
  limit = BATCH,
) {
  return sql`
    insert into user_facts (id, org_id, user_id, agent_id, key, value, search_text, confidence, tags, tier,
      half_life_days, source_message_id, written_by, observed_at, created_at, consolidated_at, claim_confidence,
      claim_tags, claim_tier, claim_half_life_days, last_confirmed_at, fades_at)
    select (substr(md5(${source}::text || n), 1, 12) || '7000' || '8000' || substr(md5(n || ${source}::text), 1, 12))::uuid,
      ${orgId}::uuid, ${personOf(sql`(n - 1) / ${FACTS_PER_PERSON}::bigint`)}, 'atlas',
      'likes.n' || n % ${FACTS_PER_PERSON}::bigint, to_json('value ' || n), 'likes value ' || n, 0.8, '{}', 'preference',
      365, ${source}::text || n, 'bench', now() - interval '1 day', now(), ${consolidatedAt}::timestamptz, 0.8, '{}',
      'preference', 365, now() - interval '1 day', now() + interval '729 days'
    from generate_series(${from}::bigint, ${to}::bigint, ${step}::bigint) n limit ${limit}`;
}

function personOf(n: ReturnType<typeof sql>) {
  return sql`('00000000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
}

function isFlat(lines: readonly Line[]): boolean | null {
  if (lines.length < 2) return null;
  return lines.every(({ ratio }) => ratio <= FLAT);
}

function tableOf({ database, lines, flat }: Result): Table {
  const verdict = flat === null ? [] : [`Within ${FLAT}×: ${flat ? "yes" : "NO"}.`];
  return {
    title: `Consolidating ${count(CHANGES)} changed facts among many, on ${database}`,
    columns: ["facts", "changed", "runs", "min ms", "median ms", "median ratio"],
    rows: lines.map((line) => [
      count(line.facts),
      count(line.changes),
      count(line.runs),
      figure(line.min),
      figure(line.median),
      `${figure(line.ratio)}×`,
    ]),
    notes: [
      `Each size is a database of its own with ${FACTS_PER_PERSON} facts a person; the sizes run in turns. A change is a`,
      "second statement of a fact, spread over all of them. The ratio is to the fewest facts.",
      ...verdict,
    ],
  };
}
