import { sql } from "drizzle-orm";
import { OutboxRepository } from "../src/channels/outbox-repository.ts";
import type { Benchmark } from "./benchmark.ts";
import { openHost } from "./databases.ts";
import { seedOwner } from "./seed.ts";
import { openServices } from "./services.ts";
import { median, quantile } from "./statistics.ts";
import { count, figure, type Table } from "./table.ts";

const WAITING = [0, 1_000, 100_000];
const CLAIMS = 200;
const LANES = 16;
/** A statement ends within its time limit. */
const BATCH = 10_000;

/** How long it takes to find the next 16 people to forward for, as more wait that are due too. */
export const forwarding: Benchmark = async (options) => {
  const databases: string[] = [];
  const tables: Table[] = [];
  const results: Record<string, unknown> = {};
  for (const engine of options.engines) {
    const host = await openHost(engine);
    const services = await openServices(await host.create());
    try {
      databases.push(host.description);
      const { orgId } = await seedOwner(services);
      const { transactions } = services.database;
      const run = (query: ReturnType<typeof sql>) =>
        transactions.system("operator", (tx) => tx.execute(query));
      const lines: { waiting: number; p50: number; p95: number }[] = [];
      let seeded = 0;
      for (const waiting of options.rows ?? WAITING) {
        options.signal.throwIfAborted();
        options.say(`${host.name}: ${count(waiting)} deliveries wait`);
        while (seeded < waiting + LANES) {
          const more = Math.min(BATCH, waiting + LANES - seeded);
          seeded += more;
          await run(sql`
          with people as (
            insert into users (id, org_id, status, created_at)
            select gen_random_uuid(), ${orgId}::uuid, 'approved', now()
            from generate_series(1, ${more}::int) returning id),
          queues as (
            insert into forward_queues (org_id, user_id, last_position, next_at)
            select ${orgId}::uuid, id, 1, now() from people)
          insert into forward_deliveries
            (id, org_id, user_id, position, event, message_id, channel, account, created_at)
          select gen_random_uuid(), ${orgId}::uuid, id, 1, 'message.received', id, 'telegram', 'main', now()
          from people`);
        }
        await run(sql`analyze forward_queues`);
        const samples: number[] = [];
        const outbox = new OutboxRepository();
        for (let claim = 0; claim < CLAIMS; claim++) {
          // Due again at once, behind the others: the backlog stays as long as it is.
          const now = new Date();
          const start = performance.now();
          await transactions.system("forwarding", (tx) =>
            outbox.claim(LANES, { now, until: now }, tx),
          );
          samples.push(performance.now() - start);
        }
        lines.push({ waiting, p50: median(samples), p95: quantile(samples, 0.95) });
      }
      const [first] = lines;
      results[engine] = lines;
      tables.push({
        title: `Taking the next ${LANES} people to forward for, on ${host.name}`,
        columns: ["deliveries that wait besides", "p50 ms", "p95 ms", "ratio"],
        rows: lines.map(({ waiting, p50, p95 }) => [
          count(waiting),
          figure(p50),
          figure(p95),
          `${figure(p50 / (first?.p50 ?? p50))}×`,
        ]),
        notes: [`Each of another person, all of them due; ${CLAIMS} claims a line.`],
      });
    } finally {
      await services.database.close();
      await host.close();
    }
  }
  return { databases, tables, json: { benchmark: "forwarding", databases: results } };
};
