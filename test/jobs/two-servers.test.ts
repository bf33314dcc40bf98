import postgres from "postgres";
import { expect, inject, onTestFinished, test } from "vitest";
import { OWNER_KEY } from "../support/app.ts";
import { createDatabase } from "../support/database.ts";
import { ServerProcess, souvenir } from "../support/server-process.ts";

test.skipIf(inject("postgresUrl") === undefined)(
  "two servers on one PostgreSQL run each slot once, and a consolidation that one runs is busy to the command line",
  async () => {
    const { env, dispose } = await createDatabase("postgres");
    onTestFinished(dispose);
    const sql = postgres(env.DATABASE_URL as string, { max: 1, onnotice: () => {} });
    onTestFinished(() => sql.end());
    const consolidating = { CONSOLIDATE_CRON: "*/2 * * * * *" };
    const servers = await Promise.all(
      [1, 2].map(() => ServerProcess.ready({ ...env, OWNER_KEY, ...consolidating })),
    );
    const done = async () => {
      const rows = await sql`select distinct kind from jobs where state = 'done'`;
      return rows.map(({ kind }) => kind as string);
    };
    for (const kind of ["chat.retention", "jobs.prune", "facts.consolidate"]) {
      await expect.poll(done, { timeout: 60_000 }).toContain(kind);
    }
    expect(await Promise.all(servers.map((server) => server.stop()))).toEqual([0, 0]);
    const twice = await sql`select job_id from job_runs group by job_id having count(*) > 1`;
    expect([...twice]).toEqual([]);
    const open = await sql`select kind from jobs where state = 'running'`;
    expect([...open]).toEqual([]);

    const now = await souvenir(["consolidate"], env);
    expect(now).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(now.stdout).counts).toEqual(expect.any(Object));
    // As a server leaves it that is in the middle of one.
    await sql`update jobs set state = 'running', lease_until = now() + interval '1 hour'
      where id = (select id from jobs where kind = 'facts.consolidate' limit 1)`;
    const busy = await souvenir(["consolidate"], env);
    expect(busy).toMatchObject({ code: 1, stdout: "" });
    expect(busy.stderr).toMatch(/^facts\.consolidate is running already/);
    expect(await sql`select 1 from jobs where dedupe_key like 'now %'`).toHaveLength(1);
  },
);
