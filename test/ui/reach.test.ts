import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowsOf } from "../isolation/rows.ts";
import { type SeededOrg, secretOf, seedOrg } from "../isolation/seeded-org.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type Browser, type Page, signedIn, textOf } from "./browser.ts";

interface Ids {
  readonly user: string;
  readonly external: string;
  readonly store: string;
  readonly facts: readonly string[];
  readonly message: string;
  readonly link: string;
}

/** Milliseconds of a year that the database does not read. */
const BEYOND = "999999999999999";
const AN_ID = "01a22f3b-3461-71ab-84a6-b56ba9416c14";

/** Every address of the page that takes an id. */
const REQUESTS: readonly ((browser: Browser, ids: Ids) => Promise<Page>[])[] = [
  (browser, { user }) => [browser.get(`/ui/facts?scope=user&userId=${user}`)],
  (browser, { external }) => [browser.get(`/ui/facts?scope=user&userId=${external}`)],
  (browser, { store }) => [browser.get(`/ui/facts?scope=store&storeId=${store}&all=1`)],
  (browser, { user }) => [browser.get(`/ui/export?userId=${user}`)],
  (browser, { store }) => [browser.get(`/ui/export?storeId=${store}`)],
  (browser, { facts }) => facts.map((id) => browser.get(`/ui/facts/${id}`)),
  (browser, { facts }) =>
    facts.map((id) => browser.post(`/ui/facts/${id}`, { decision: "archive" })),
  (browser, { facts }) =>
    facts.map((id) => browser.post(`/ui/facts/${id}/edit`, { kind: "text", value: "planted" })),
  (browser, { facts }) =>
    facts.map((id) => browser.post(`/ui/facts/${id}/edit`, { kind: "json", value: "not json" })),
  (browser, { facts }) =>
    facts.map((id) => browser.post(`/ui/facts/${id}/delete`, { reason: "not mine" })),
  (browser, { facts: [firstId = "", secondId = ""] }) => [
    browser.post("/ui/duplicates", { firstId, secondId }),
  ],
  ...["", "/memory", "/memory/entry?key=colour", "/link"].map(
    (below) =>
      (browser: Browser, { user }: Ids) => [browser.get(`/ui/people/${user}${below}`)],
  ),
  (browser, { user }) => [
    browser.post(`/ui/people/${user}/status`, { status: "blocked", reason: "x" }),
  ],
  (browser, { user }) => [browser.post(`/ui/people/${user}/code`)],
  (browser, { user }) => [
    browser.post(`/ui/people/${user}/memory`, { key: "colour", kind: "text", value: "planted" }),
  ],
  (browser, { user }) => [browser.post(`/ui/people/${user}/memory/delete`, { key: "colour" })],
  (browser, { user, external }) => [
    browser.post(`/ui/people/${user}/link`, { with: external, reason: "x" }),
  ],
  (browser, { user, link }) => [browser.post(`/ui/people/${user}/links/${link}/undo`)],
  (browser, { user }) => [browser.get(`/ui/chat?userId=${user}`)],
  (browser, { user }) => [browser.get(`/ui/chat?userId=${user}&search=said`)],
  (browser, { message }) => [browser.get(`/ui/chat/${message}`)],
  (browser, { user }) => [browser.get(`/ui/preview?userId=${user}`)],
  (browser, { store }) => [browser.get(`/ui/preview?storeId=${store}&query=plan`)],
  (browser, { message }) => [browser.post(`/ui/chat/${message}/delete`)],
];

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf });
    theirs = await seedOrg(app, "theirs");
  });
  afterAll(() => app.dispose());

  const idsOf = (org: SeededOrg): Ids => ({
    user: org.userId,
    external: `telegram:${org.externalId}`,
    store: org.storeId,
    facts: Object.values(org.facts),
    message: org.message.id,
    link: org.channels.link.id,
  });
  const unknown: Ids = {
    user: v7(),
    external: "telegram:999",
    store: v7(),
    facts: [v7(), v7(), v7()],
    message: v7(),
    link: v7(),
  };

  test("ids of another org answer as unknown ones do, on every address, and change nothing", async () => {
    const owner = await signedIn(app, await app.createKey({ role: "owner" }, "ours"));
    const before = await rowsOf(app.database.transactions, theirs.orgId);
    for (const ask of REQUESTS) {
      const foreign = await Promise.all(ask(owner, idsOf(theirs)));
      const [nobody] = await Promise.all(ask(owner, unknown));
      for (const { status, html } of foreign) {
        expect(status).toBe(404);
        expect(html).toBe(nobody?.html);
      }
    }
    expect(await rowsOf(app.database.transactions, theirs.orgId)).toEqual(before);
    const { html } = await owner.get("/ui/facts?search=telegram");
    expect(html).not.toContain(theirs.externalId);
    expect(html).not.toContain("shop");
  });

  test("an address that somebody made up is answered in order", async () => {
    const owner = await signedIn(app, theirs.keys.owner);
    for (const [url, status] of [
      [`/ui/inbox?before=${BEYOND}_${AN_ID}`, 400],
      [`/ui/inbox?before=-${BEYOND}_${AN_ID}`, 400],
      [`/ui/watch?before=${BEYOND}_${AN_ID}`, 400],
      [`/ui/facts?scope=org&before=s${BEYOND}_1_${AN_ID}`, 400],
      [`/ui/facts?scope=org&before=s1_1e308_${AN_ID}`, 200],
      [`/ui/facts?scope=org&before=s1_-1e308_${AN_ID}`, 200],
      [`/ui/facts?scope=org&only=archived&before=a${BEYOND}_${AN_ID}`, 400],
      [`/ui/dead-letters?turns=${BEYOND}9_${AN_ID}`, 400],
      [`/ui/dead-letters?turns=1_${"-".repeat(36)}`, 400],
      ["/ui/erasures?before=99999999999", 400],
      [`/ui/chat?userId=telegram:${theirs.externalId}&day=9999-12-31`, 200],
      ["/ui/people?search=a%00b", 400],
      ["/ui/people?search=a&search=b", 400],
    ] as const) {
      expect([url, (await owner.get(url)).status]).toEqual([url, status]);
    }
  });

  describe("a key that is pinned", () => {
    let other: Ids;
    beforeAll(async () => {
      const of = async (fact: object) =>
        String((await app.ok("remember_fact", { key: "x.y", ...fact }, theirs.keys.admin)).factId);
      await app.v1("POST", "/v1/stores", { slug: "elsewhere" }, "theirs");
      const userId = "telegram:222";
      const facts = [
        await of({ scope: "user", userId, value: "of somebody else" }),
        await of({ scope: "store", storeId: "elsewhere", value: "of another shop" }),
      ];
      const { user } = await app.ok("get_user_context", { userId }, theirs.keys.admin);
      const turn = { userId, channel: "web", userMessage: "of another", assistantMessage: "yes" };
      const said = await app.ok("archive_turn", turn, theirs.keys.admin);
      other = {
        message: String(said.userMessageId),
        link: theirs.channels.link.id,
        user: (user as { id: string }).id,
        external: userId,
        store: "elsewhere",
        facts,
      };
    });

    const pinned = async (pins: object, role = "admin") =>
      signedIn(app, await app.createKey({ role: role as "admin", ...pins }, "theirs"));
    const expectNothing = async (browser: Browser, urls: readonly string[]) => {
      for (const url of urls) expect([url, (await browser.get(url)).status]).toEqual([url, 404]);
    };

    test("to a person sees that person alone, and no fact of the org or a store", async () => {
      const browser = await pinned({ pinUserId: theirs.userId });
      const { html } = await browser.get("/ui/facts");
      expect(html.match(/class="row-name"/g)).toHaveLength(1);
      expect(html).toContain(theirs.userId);
      expect((await browser.get("/ui/facts?scope=user")).status).toBe(200);
      expect((await browser.get("/ui/export")).status).toBe(200);
      const { org, store, user } = theirs.facts;
      expect((await browser.get(`/ui/facts/${user}`)).status).toBe(200);
      await expectNothing(browser, [
        "/ui/facts?scope=org",
        `/ui/facts?scope=store&storeId=${theirs.storeId}`,
        `/ui/export?storeId=${theirs.storeId}`,
        `/ui/facts?scope=user&userId=${other.user}`,
        `/ui/facts?scope=user&userId=${other.external}`,
        `/ui/export?userId=${other.user}`,
        ...[org, store, ...other.facts].map((id) => `/ui/facts/${id}`),
      ]);
      for (const id of [org, store, ...other.facts]) {
        expect((await browser.post(`/ui/facts/${id}`, { decision: "archive" })).status).toBe(404);
        const edit = { kind: "text", value: "planted" };
        expect((await browser.post(`/ui/facts/${id}/edit`, edit)).status).toBe(404);
        const deletion = await browser.post(`/ui/facts/${id}/delete`, { reason: "x" });
        expect(deletion.status).toBe(404);
      }
      await expectNothing(browser, [
        ...["", "/memory", "/memory/entry?key=colour"].map((at) => `/ui/people/${other.user}${at}`),
        `/ui/chat?userId=${other.user}`,
        `/ui/chat?userId=${other.external}&search=another`,
        `/ui/chat/${other.message}`,
        `/ui/preview?userId=${other.user}`,
        `/ui/preview?storeId=${theirs.storeId}`,
      ]);
      const preview = await browser.get("/ui/preview?query=plan");
      expect(preview.html).toContain("- user secret.plan");
      expect(preview.html).not.toMatch(/- (?:org|store) secret\.plan|rules of theirs/);
      const entry = { key: "colour", kind: "text", value: "planted" };
      for (const below of ["/memory", "/memory/delete"]) {
        const answer = await browser.post(`/ui/people/${other.user}${below}`, entry);
        expect(answer.status).toBe(404);
      }
      expect((await browser.post(`/ui/chat/${other.message}/delete`)).status).toBe(404);
      expect((await browser.get(`/ui/people/${theirs.userId}`)).status).toBe(200);
      expect((await browser.get("/ui/chat")).html).toContain("said in theirs");
      const people = await browser.get("/ui/people?search=222");
      expect(people.html).not.toContain(other.external);
      // An admin's acts are no part of what a pinned key may do, whatever its role.
      for (const url of ["/ui/chat?nobody=1", `/ui/people/${theirs.userId}/link`]) {
        expect((await browser.get(url)).status).toBe(403);
      }
      const searched = await browser.get("/ui/facts?search=222");
      expect(searched.html).not.toContain(other.external);
    });

    test("to a store sees that store, the org's facts and people, and changes only what is its own", async () => {
      const browser = await pinned({ pinStoreId: "shop" });
      const { html } = await browser.get("/ui/facts");
      expect(textOf(html)).not.toContain("elsewhere");
      expect((await browser.get("/ui/facts?scope=store")).status).toBe(200);
      await expectNothing(browser, [
        "/ui/facts?scope=store&storeId=elsewhere",
        "/ui/export?storeId=elsewhere",
        `/ui/facts/${other.facts[1]}`,
      ]);
      const orgFact = await browser.get(`/ui/facts/${theirs.facts.org}`);
      expect(orgFact.status).toBe(200);
      expect(orgFact.html).not.toContain('action="/ui/facts');
      const archive = { decision: "archive" };
      expect((await browser.post(`/ui/facts/${theirs.facts.org}`, archive)).status).toBe(404);
      const storeFact = await browser.get(`/ui/facts/${theirs.facts.store}`);
      expect(storeFact.html).toContain('action="/ui/facts');
    });

    test("to an agent sees its pocket and the orchestrator's, and changes its own alone", async () => {
      const remember = async (agentId: string) => {
        const fact = { scope: "user", userId: theirs.userId, key: "of.agent", value: agentId };
        const answer = await app.ok("remember_fact", { ...fact, agentId }, theirs.keys.admin);
        return String(answer.factId);
      };
      const [mine, orchestrators, foreign] = [
        await remember("maya"),
        await remember("atlas"),
        await remember("marco"),
      ];
      const browser = await pinned({ pinAgentId: "maya" }, "member");
      const list = await browser.get(`/ui/facts?scope=user&userId=${theirs.userId}&all=1`);
      expect(list.html).toContain(mine);
      expect(list.html).toContain(orchestrators);
      expect(list.html).not.toContain(foreign);
      await expectNothing(browser, [`/ui/facts/${foreign}`]);
      expect((await browser.get(`/ui/facts/${mine}`)).html).toContain('action="/ui/facts');
      const atlas = await browser.get(`/ui/facts/${orchestrators}`);
      expect(atlas.html).not.toContain('action="/ui/facts');
      expect((await browser.post(`/ui/facts/${orchestrators}`, { decision: "pin" })).status).toBe(
        404,
      );
      expect(list.html).not.toContain("/ui/export");
      expect((await browser.get("/ui/facts")).html).not.toContain("/ui/export");
      expect((await browser.get(`/ui/export?userId=${theirs.userId}`)).status).toBe(403);
    });
  });
});
