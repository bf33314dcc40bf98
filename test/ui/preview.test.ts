import { afterAll, beforeAll, expect, test } from "vitest";
import { rowsOf } from "../isolation/rows.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

const ANA = "telegram:1";

onBothDatabases((engine) => {
  let app: TestApp;
  let key: string;
  let browser: Browser;
  const clock = new TestClock();
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
    key = await app.createKey({ role: "admin" }, "acme");
    const remember = (fact: object) =>
      app.ok("remember_fact", { scope: "user", userId: ANA, confidence: 0.9, ...fact }, key);
    await remember({ key: "likes.tea", value: "green <b>tea</b>" });
    await remember({ key: "note.long", value: "tea ".repeat(1_000).trim(), tags: ["tea"] });
    await app.ok("remember_fact", { scope: "org", key: "policy.tea", value: "free tea" }, key);
    clock.advance(3_600_000);
    await remember({ key: "likes.coffee", value: "black" });
    const turn = { userId: ANA, channel: "web", assistantMessage: "Noted." };
    await app.ok("archive_turn", { ...turn, userMessage: "I never drink tea after six" }, key);
    await app.ok("update_memory", { userId: "telegram:2", key: "k", value: 1 }, key);
    browser = await signedIn(app, key);
  });
  afterAll(() => app.dispose());

  /** A block as the page shows it, byte for byte. */
  const blocksOn = (html: string) =>
    [...html.matchAll(/<pre class="block"><bdi[^>]*>([\s\S]*?)<\/bdi><\/pre>/g)].map((match) =>
      String(match[1]).replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
    );

  test("the blocks are the bytes that recall answers with", async () => {
    for (const query of [undefined, "do they drink tea"]) {
      const recalled = await app.ok("recall", { userId: ANA, query, limit: 50 }, key);
      const asked = query === undefined ? "" : `&query=${encodeURIComponent(query)}`;
      const { html } = await browser.get(`/ui/preview?userId=${ANA}${asked}`);
      expect(blocksOn(html)).toEqual([recalled.memoryBlock]);
      expect(html).toContain(String(recalled.etag));
      expect(textOf(html)).toContain(`${recalled.tokens} of 1,400 tokens`);
    }
  });

  test("every hit says why it stands in the block, or why not", async () => {
    const { html } = await browser.get(`/ui/preview?userId=${ANA}&query=tea`);
    const hits = html.split('<li class="row entry hit">').slice(1).map(textOf);
    const hit = (word: string) => hits.find((text) => text.includes(word)) ?? "";
    expect(hit("likes.tea")).toMatch(
      /in the block: (?:core|working|archival).*Match \d\.\d\d.*Words 0\.\d\d.*Meaning none.*Rank 0\.9/,
    );
    expect(hit("note.long")).toMatch(/not in the block: takes [\d,]+ tokens, \d+ were left/);
    expect(hit("after six")).toContain("in the block: archival");
  });

  test("an earlier point in time shows what was known then", async () => {
    const then = await browser.get(`/ui/preview?userId=${ANA}&asOf=2026-03-01T10:30`);
    expect(blocksOn(then.html)[0]).toContain("likes.tea");
    expect(blocksOn(then.html)[0]).not.toContain("likes.coffee");
    expect((await browser.get(`/ui/preview?userId=${ANA}&asOf=noon`)).status).toBe(400);
  });

  test("looking writes nothing", async () => {
    const [org] = await app.database.transactions.system("operator", (tx) =>
      tx.execute<{ id: string }>("select id from orgs where slug = 'acme'"),
    );
    const orgId = org?.id ?? "";
    const before = await rowsOf(app.database.transactions, orgId);
    await browser.get(`/ui/preview?userId=${ANA}&query=tea`);
    expect(await rowsOf(app.database.transactions, orgId)).toEqual(before);
  });

  test("a name that several people have is asked back", async () => {
    const { html } = await browser.get("/ui/preview?userId=elegram&query=tea");
    expect(textOf(html)).toContain("Who is meant?");
    expect(html.match(/\/ui\/preview\?userId=[^"]*query=tea/g)).toHaveLength(2);
    expect((await browser.get("/ui/preview?userId=nobody+at+all")).status).toBe(404);
  });
});
