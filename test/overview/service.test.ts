import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countJob } from "../../src/overview/jobs.ts";
import { OverviewRepository } from "../../src/overview/repository.ts";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { signedIn, textOf } from "../ui/browser.ts";

const DAY = 86_400_000;

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
  });
  afterAll(() => app.dispose());

  const look = async (key = OWNER_KEY) => {
    const { status, html } = await (await signedIn(app, key)).get("/ui");
    expect(status).toBe(200);
    return textOf(html);
  };

  test("a new org is told what will fill the page", async () => {
    const text = await look();
    expect(text).toContain("Facts 0");
    expect(text).toContain("Nothing. Contradictions,");
    expect(text).toContain("No facts yet");
  });

  test("what is remembered is counted by scope and agent, and what waits is listed", async () => {
    await app.telegram(privateMessage(900, { message_id: 1, text: "hello" }));
    const ana = { scope: "user", userId: "telegram:900" };
    await app.ok("remember_fact", { ...ana, key: "likes.tea", value: "green" });
    await app.ok("remember_fact", { ...ana, key: "likes.tea", value: "black" });
    await app.ok("remember_fact", { ...ana, key: "size.coat", value: "M", agentId: "maya" });
    await app.ok("remember_fact", { scope: "org", key: "policy.returns", value: "30 days" });
    await app.ok("update_memory", { userId: "telegram:900", key: "k", value: 1 });
    clock.advance(5001);
    expect(await look()).toContain("Facts 4");
    clock.advance(DAY);
    const text = await look();
    for (const part of ["Facts 4", "People 1", "Messages 1", "Entries 1", "1 contradiction"]) {
      expect(text).toContain(part);
    }
    expect(text).toContain("1 person waits to be approved");
    expect(text).toMatch(/People atlas 2.*People maya 1|People maya 1.*People atlas 2/);
    expect(text).toContain("1 March 2026 4");
    expect(text).toContain("2 March 2026 4");
  });

  test("an org does not count what another one has", async () => {
    expect(await look(await app.createKey({}, "other"))).toContain("Facts 0");
  });

  test("a member is not told what only an admin can do", async () => {
    const text = await look(await app.createKey({ role: "member" }));
    expect(text).toContain("1 contradiction");
    expect(text).not.toContain("waits to be approved");
  });

  describe("a pinned key", () => {
    test("of one person sees that person's numbers", async () => {
      const text = await look(await app.createKey({ pinUserId: "telegram:900" }));
      expect(text).toContain("Facts 3");
      expect(text).toContain("Messages 1");
      expect(text).toContain("Take a copy of everything that is kept about you");
      expect(text).toContain("only an owner can do that");
      expect(text).not.toContain("The org");
    });

    test("of a store or an agent sees no number of the org", async () => {
      const text = await look(await app.createKey({ pinAgentId: "maya" }));
      expect(text).toContain("bound to the agent maya");
      expect(text).not.toMatch(/Facts \d/);
    });
  });

  test("a large org is counted by the nightly job alone", async () => {
    const key = await app.createKey({}, "large");
    const { transactions } = app.database;
    const overview = new OverviewRepository();
    const orgId = await transactions.system("operator", async (tx) => {
      const [org] = await tx.execute<{ id: string }>(sql`select id from orgs where slug = 'large'`);
      await tx.execute(sql`insert into users (id, org_id, status, role, created_at)
        select gen_random_uuid(), ${org?.id}, 'approved', 'customer', now() from generate_series(1, 20001)`);
      return org?.id ?? "";
    });
    clock.advance(DAY);
    const isSmall = transactions.tenant({ orgId }, (tx) => overview.isSmall({ orgId }, tx));
    expect(await isSmall).toBe(false);
    const job = countJob(overview, transactions, clock.now);
    const attempt = { orgId: null, payload: "{}" } as Parameters<typeof job.run>[0];
    const context = { signal: AbortSignal.timeout(60_000) } as Parameters<typeof job.run>[1];
    await job.run(attempt, context);
    expect(await look(key)).toContain("People 20,001");
  });
});
