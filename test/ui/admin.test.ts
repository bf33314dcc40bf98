import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SeededOrg, secretOf, seedOrg } from "../isolation/seeded-org.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const SCREENS = [
  "/ui/rules",
  "/ui/comparison",
  "/ui/jobs",
  "/ui/jobs?kind=facts.expire",
  "/ui/dead-letters",
  "/ui/keys",
  "/ui/keys/new",
  "/ui/audit",
];

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let org: SeededOrg;
  let owner: Browser;
  let admin: Browser;
  beforeAll(async () => {
    // Nothing of it is called: no job runs here.
    const env = { ANTHROPIC_API_KEY: "sk-of-a-test", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" };
    app = await openApp(engine, { clock: clock.now, secretOf, env, background: false });
    org = await seedOrg(app, "acme");
    owner = await signedIn(app, org.keys.owner);
    admin = await signedIn(app, org.keys.admin);
  });
  afterAll(() => app.dispose());

  const system = (statement: ReturnType<typeof sql>) =>
    app.database.transactions.system("operator", (tx) => tx.execute(statement));
  const linkTo = (html: string, label: string) =>
    new RegExp(`href="([^"]*)"[^>]*>${label}`).exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const fieldOf = (html: string, name: string) =>
    new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(html)?.[1] ?? "";

  test("screens of the operation are neither linked nor answered for other keys", async () => {
    for (const key of [
      org.keys.member,
      await app.createKey({ role: "admin", pinAgentId: "maya" }, "acme"),
      await app.createKey({ pinUserId: "telegram:100" }, "acme"),
    ]) {
      const browser = await signedIn(app, key);
      const { html } = await browser.get("/ui/facts");
      for (const screen of SCREENS) {
        expect([screen, html.includes(`href="${screen}"`)]).toEqual([screen, false]);
        expect([screen, (await browser.get(screen)).status]).toEqual([screen, 403]);
      }
    }
    const { html } = await admin.get("/ui/facts");
    for (const screen of ["/ui/rules", "/ui/jobs", "/ui/keys", "/ui/audit"])
      expect(html).toContain(`href="${screen}"`);
  });

  describe("rules", () => {
    test("are written, stand in the block that agents get, and show what each version changed", async () => {
      const first = await owner.get("/ui/rules");
      const basedOn = fieldOf(first.html, "basedOn");
      const text = "Be polite.\r\nRefund within 14 days.";
      const saved = await owner.submit("/ui/rules", { text, basedOn, reason: "agreed <b>" });
      expect(textOf(saved.html)).toContain("Saved. Agents read it with their next call.");
      expect(textOf(saved.html)).toContain("agreed <b>");
      const { stableBlock } = await app.ok("recall", {}, org.keys.member);
      expect(stableBlock).toBe("<rules>\nBe polite.\nRefund within 14 days.\n</rules>");
      expect(textOf(saved.html)).toContain("Refund within 14 days.");
      const next = { text: "Be polite.\nRefund within 30 days.", basedOn: String(+basedOn + 1) };
      const { html } = await owner.submit("/ui/rules", next);
      const changes = await owner.get(linkTo(html, `Version ${+basedOn + 2}<`));
      expect(changes.html).toMatch(/class="diff-line removed"[\s\S]*<mark>.*14.*<\/mark>/);
      expect(changes.html).toMatch(/class="diff-line added"[\s\S]*<mark>.*30.*<\/mark>/);
      const old = await owner.get(linkTo(html, `Version ${+basedOn + 1}<`));
      const path = /action="([^"]*restore)"/.exec(old.html)?.[1] ?? "";
      const restored = await owner.submit(path, { basedOn: fieldOf(old.html, "basedOn") });
      expect(textOf(restored.html)).toContain(`version ${+basedOn + 1} again`);
      expect((await app.ok("recall", {}, org.keys.member)).stableBlock).toBe(stableBlock);
    });

    test("that somebody else saved meanwhile are not lost, nor is what was written", async () => {
      const basedOn = fieldOf((await admin.get("/ui/rules")).html, "basedOn");
      await owner.submit("/ui/rules", { text: "Theirs.", basedOn });
      const refused = await admin.post("/ui/rules", { text: "Mine <i>.", basedOn, reason: "why" });
      expect(refused.status).toBe(409);
      expect(textOf(refused.html)).toContain("somebody saved these rules meanwhile");
      expect(refused.html).toContain("Mine &lt;i>.");
      const again = { text: "Mine.", basedOn: fieldOf(refused.html, "basedOn") };
      expect((await admin.post("/ui/rules", again)).status).toBe(303);
    });

    test("of a store stand beside the org's; 32 KiB of line breaks fit, more is told", async () => {
      const store = { storeId: org.storeId, basedOn: "0" };
      const { html } = await owner.submit("/ui/rules", { ...store, text: "Closed on Sundays." });
      expect(textOf(html)).toMatch(/Mine\. Closed on Sundays\. <\/rules>/);
      expect(html).toContain('aria-current="true"');
      const long = { storeId: org.storeId, basedOn: "1", text: `a${"\r\n".repeat(32_766)}b` };
      expect((await owner.post("/ui/rules", long)).status).toBe(303);
      const longer = await owner.post("/ui/rules", {
        ...long,
        basedOn: "2",
        text: "é".repeat(16_385),
      });
      expect(longer.status).toBe(400);
      expect(textOf(longer.html)).toContain("rules take at most 32 KiB");
    });

    test("of another org, and versions of nobody, are not there", async () => {
      const theirs = await seedOrg(app, "theirs-rules");
      const stranger = await signedIn(app, org.keys.owner);
      for (const id of [theirs.page.rules.id, v7(), "x"]) {
        const pages = [
          await stranger.get(`/ui/rules/versions/${id}`),
          await stranger.get(`/ui/rules/versions/${org.page.rules.id}?against=${id}`),
          await stranger.post(`/ui/rules/versions/${id}/restore`, { basedOn: "1" }),
        ];
        expect(pages.map(({ status }) => status)).toEqual([404, 404, 404]);
      }
      for (const storeId of [theirs.storeId, v7()]) {
        expect((await stranger.get(`/ui/rules?storeId=${storeId}`)).status).toBe(404);
        const form = { storeId, basedOn: "0", text: "planted" };
        expect((await stranger.post("/ui/rules", form)).status).toBe(404);
      }
    });
  });

  test("memory is switched off for a share of the people, by percent, and what that means is said", async () => {
    const form = { enabled: "on", offShare: "12.5", extractionDailyLimit: "" };
    const { html } = await admin.submit("/ui/comparison", form);
    expect(fieldOf(html, "offShare")).toBe("12.5");
    const { body } = await app.v1("GET", "/v1/memory", undefined, "acme");
    expect(body).toEqual({ enabled: true, offShare: 0.125, extractionDailyLimit: null });
    expect((await admin.post("/ui/comparison", { ...form, offShare: "101" })).status).toBe(400);
    expect(textOf(html)).toContain("too few to say anything");
    await admin.submit("/ui/comparison", { ...form, offShare: "0" });
  });

  test("an owner starts a job before its time, an admin does not; a dead one is tried again", async () => {
    const { html } = await owner.get("/ui/jobs");
    expect(textOf(html)).toContain("every day at 03:00 UTC");
    const start = { kind: "facts.expire" };
    expect((await admin.post("/ui/jobs/start", start)).status).toBe(403);
    expect((await admin.get("/ui/jobs")).html).not.toContain("Start now");
    expect(textOf((await owner.submit("/ui/jobs/start", start)).html)).toContain("Started");
    for (const kind of ["turns.extract", "nothing"])
      expect((await owner.post("/ui/jobs/start", { kind })).status).toBe(404);
    const id = v7();
    await system(sql`insert into jobs (id, org_id, kind, dedupe_key, payload, state, attempts, last_error, run_at, created_at)
      values (${id}::uuid, ${org.orgId}::uuid, 'search.index', ${id}, '{}', 'dead', 8, 'TypeError', now(), now())`);
    expect(textOf((await admin.get("/ui/jobs")).html)).toContain("failed 8 times TypeError");
    await admin.submit(`/ui/jobs/${id}/replay`, {});
    expect(textOf((await admin.get("/ui/jobs")).html)).not.toContain("failed 8 times");
    expect((await admin.post(`/ui/jobs/${v7()}/replay`)).status).toBe(404);
  });

  test("what was given up is shown with its cause and tried again, one or all", async () => {
    await system(
      sql`update turns set state = 'dead', reason = 'status 529' where org_id = ${org.orgId}`,
    );
    await system(
      sql`update forward_deliveries set state = 'dead', last_error = 'status 502' where org_id = ${org.orgId}`,
    );
    const linked = v7();
    await system(sql`insert into users (id, org_id, status, created_at, linked_into)
      values (${linked}::uuid, ${org.orgId}::uuid, 'approved', now(), ${org.userId}::uuid)`);
    await system(
      sql`update forward_deliveries set user_id = ${linked}::uuid where org_id = ${org.orgId}`,
    );
    const { html } = await admin.get("/ui/dead-letters");
    expect(html).toContain(`href="/ui/people/${linked}"`);
    expect(textOf(html)).not.toContain(linked);
    expect(textOf(html)).toContain("status 529");
    expect(textOf(html)).toContain("status 502");
    const [, one = ""] = /action="(\/ui\/dead-letters\/deliveries\/[^"]+)"/.exec(html) ?? [];
    expect(textOf((await admin.submit(one, {})).html)).toContain("being tried again");
    await admin.submit("/ui/dead-letters/deliveries", {});
    await admin.submit("/ui/dead-letters/turns", {});
    const after = textOf((await admin.get("/ui/dead-letters")).html);
    expect(after).not.toContain("status 5");
    const { turns } = (await app.v1("GET", "/v1/turns?state=closed", undefined, "acme")).body;
    expect(turns).not.toEqual([]);
  });

  describe("keys", () => {
    test("are made for a person who was looked for, shown once, and revoked", async () => {
      const draft = { name: "Portal", role: "member", person: "telegram:100" };
      const found = await admin.get(`/ui/keys/new?${new URLSearchParams(draft)}`);
      expect(fieldOf(found.html, "name")).toBe("Portal");
      expect((await admin.post("/ui/keys", draft)).status).toBe(400);
      const pinUserId = fieldOf(found.html, "pinUserId");
      const made = await admin.post("/ui/keys", { ...draft, pinUserId });
      expect([made.status, made.headers["cache-control"]]).toEqual([201, "no-store"]);
      const [key = ""] = /svr_[\w-]+/.exec(made.html) ?? [];
      const { user } = await app.ok("get_user_context", {}, key);
      expect(user).toMatchObject({ id: org.userId });
      const { html } = await admin.get("/ui/keys");
      expect(html).not.toContain(key);
      const id = /Portal[\s\S]*?keys\/([^/]+)\/revoke/.exec(html)?.[1];
      expect(textOf((await admin.submit(`/ui/keys/${id}/revoke`, {})).html)).toContain("Revoked");
      expect(
        (await app.http.inject({ url: "/v1/keys", headers: { authorization: `Bearer ${key}` } }))
          .statusCode,
      ).toBe(401);
    });

    test("are not made above one's own role, for nobody, or for somebody of another org", async () => {
      expect(await admin.get("/ui/keys/new").then(({ html }) => html)).not.toContain(
        'value="owner"',
      );
      for (const form of [
        { name: "k", role: "owner" },
        { name: "", role: "member" },
        { name: "k", role: "member", pinAgentId: "No such agent" },
      ])
        expect([form, (await admin.post("/ui/keys", form)).status]).toEqual([form, 400]);
      const before = (await app.v1("GET", "/v1/keys", undefined, "acme")).body;
      const person = { name: "k", person: "x", pinUserId: v7() };
      expect((await admin.post("/ui/keys", person)).status).toBe(404);
      expect((await admin.post("/ui/keys", { name: "k", pinStoreId: v7() })).status).toBe(404);
      expect((await admin.post(`/ui/keys/${v7()}/revoke`)).status).toBe(404);
      expect((await app.v1("GET", "/v1/keys", undefined, "acme")).body).toEqual(before);
    });
  });

  test("the trail tells in sentences who did what, and is narrowed by who and what", async () => {
    const { html } = await admin.get("/ui/audit");
    const text = textOf(html);
    expect(text).toMatch(/key “ admin of acme ” revoked the key “ Portal ”/);
    expect(text).toMatch(/started a job: Deletes facts whose time is over/);
    expect(text).toMatch(/off share: 0.125 → 0/);
    const only = textOf((await admin.get("/ui/audit?action=rules.saved")).html);
    expect(only).toContain("saved version");
    expect(only).not.toContain("revoked the key");
    const nobody = await admin.get(`/ui/audit?actor=${v7()}`);
    expect(textOf(nobody.html)).toContain("Nothing of that kind was done.");
    expect((await admin.get("/ui/audit?action=%3Cscript")).status).toBe(400);
  });
});
