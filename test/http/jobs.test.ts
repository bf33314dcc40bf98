import { afterAll, beforeAll, expect, test } from "vitest";
import { jobs } from "../../src/db/schema/jobs.ts";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());

  const dead = async (orgId: string | null) => {
    const at = clock.now();
    const job = { kind: "x", orgId, dedupeKey: crypto.randomUUID(), payload: "{}", attempts: 8 };
    const [row] = await app.database.transactions.system("operator", (tx) =>
      tx
        .insert(jobs)
        .values({ ...job, state: "dead", lastError: "TypeError", runAt: at, createdAt: at })
        .returning(),
    );
    return row?.id ?? "";
  };
  const asOwner = async (method: "GET" | "POST", url: string) => {
    const headers = { authorization: `Bearer ${OWNER_KEY}` };
    const response = await app.http.inject({ method, url, headers });
    return { status: response.statusCode, body: response.json() as Record<string, unknown> };
  };

  test("the operator finds a dead job of the server and replays it; to an owner of one org of several it does not exist", async () => {
    await app.createKey({}, "another");
    const id = await dead(null);
    const found = await app.v1("GET", "/v1/jobs?state=dead&kind=x");
    expect(found.body).toMatchObject({
      jobs: [{ id, of: "server", state: "dead", attempts: 8, lastError: "TypeError" }],
      nextBefore: null,
    });
    expect((await asOwner("GET", "/v1/jobs?state=dead&kind=x")).body).toMatchObject({ jobs: [] });
    expect(await asOwner("POST", `/v1/jobs/${id}/replay`)).toMatchObject({ status: 404 });
    expect(await app.v1("POST", `/v1/jobs/${id}/replay`)).toMatchObject({
      status: 200,
      body: { id, state: "queued", attempts: 0 },
    });
    expect(await app.v1("POST", `/v1/jobs/${id}/replay`)).toMatchObject({ status: 409 });
  });

  test("the server's own jobs run in their slots, and each run is shown with its counts", async () => {
    expect(await app.jobs.runDue()).toBeGreaterThan(2);
    const { body } = await app.v1("GET", "/v1/jobs/runs?kind=jobs.prune");
    expect(body.runs).toMatchObject([{ outcome: "done", counts: { jobs: 0, runs: 0 } }]);
    const metrics = await app.http.inject("/metrics");
    expect(metrics.body).toContain('souvenir_jobs_total{kind="jobs.prune",outcome="done"} 1');
    expect(metrics.body).toContain("souvenir_oldest_due_job_seconds 0");
  });

  test("what a query cannot mean is refused by name", async () => {
    for (const [query, fault] of [
      ["state=lost", "state"],
      ["limit=0", "limit"],
      ["limit=201", "limit"],
      ["before=yesterday", "before"],
      ["page=2", "page"],
    ]) {
      const { status, body } = await app.v1("GET", `/v1/jobs?${query}`);
      expect([status, body.detail]).toEqual([400, expect.stringContaining(fault as string)]);
    }
  });

  test("a consolidation asked for by an owner runs at once and answers its counts; while one runs it is a conflict", async () => {
    const { status, body } = await asOwner("POST", "/v1/consolidate");
    expect(status).toBe(200);
    expect(body.counts).toEqual(expect.any(Object));
    const runs = await app.v1("GET", "/v1/jobs/runs?kind=facts.consolidate&limit=1");
    expect(runs.body.runs).toMatchObject([{ outcome: "done", counts: body.counts }]);

    const leaseUntil = new Date(clock.now().getTime() + 60_000);
    const at = clock.now();
    const job = { kind: "facts.consolidate", dedupeKey: "elsewhere", payload: "{}", createdAt: at };
    await app.database.transactions.system("operator", (tx) =>
      tx.insert(jobs).values({ ...job, state: "running", leaseUntil, runAt: at }),
    );
    const busy = await app.v1("POST", "/v1/consolidate");
    expect(busy).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(busy.body.detail).toContain("is running already");
  });
});
