import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { Browser } from "../ui/browser.ts";
import { type Ids, idsOf, unknownIds } from "./id-parameters.ts";
import { rowsOf } from "./rows.ts";
import { routesUnder } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

/** What an id in an address of the page names, by the part before it. */
const NAMED: Readonly<Record<string, keyof Ids>> = {
  facts: "userFact",
  people: "person",
  chat: "message",
  versions: "rules",
  deliveries: "delivery",
  turns: "turn",
  corrections: "turn",
  jobs: "job",
  keys: "key",
  links: "link",
  erasures: "erasure",
};

/** What the forms of the page send: each takes its own and leaves the rest. */
const FORM = {
  ...{ reason: "a test", status: "blocked", decision: "pin", value: "1", type: "text" },
  ...{ key: "a.b", basedOn: "1", with: "telegram:1", confirm: "x", "json-value": "1" },
};

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  let browser: Browser;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf, background: false });
    theirs = await seedOrg(app, "theirs");
    const ours = await seedOrg(app, "ours", 1);
    browser = new Browser(app);
    await browser.signIn(ours.keys.owner);
  });
  afterAll(() => app.dispose());

  test("every address of the page with a foreign id answers as with an unknown one", async () => {
    const before = await rowsOf(app.database.transactions, theirs.orgId);
    const routes = routesUnder(app, "/ui/").filter((route) => route.includes(":"));
    expect(routes.length).toBeGreaterThan(15);
    for (const route of routes) {
      const [method = "", path = ""] = route.split(" ");
      const answers = [];
      for (const ids of [idsOf(theirs), unknownIds()]) {
        const url = path.replace(/([a-z-]+)\/:\w+/g, (_, part: string) => {
          const name = NAMED[part];
          if (name === undefined) throw new Error(`what does an id after ${part} name?`);
          return `${part}/${ids[name]}`;
        });
        const page =
          method === "POST" ? await browser.post(url, FORM) : await browser.get(`${url}?key=k`);
        let text = `${page.status} ${page.location} ${page.html}`;
        for (const id of Object.values(ids)) text = text.replaceAll(id, "<id>");
        answers.push(text);
      }
      expect([route, answers[0]]).toEqual([route, answers[1]]);
      expect([route, answers[0]]).toEqual([route, expect.stringMatching(/^40[04] /)]);
      if (method === "GET") expect([route, answers[0]?.slice(0, 3)]).toEqual([route, "404"]);
    }
    expect(await rowsOf(app.database.transactions, theirs.orgId)).toEqual(before);
  });
});
