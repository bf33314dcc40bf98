import { readdirSync } from "node:fs";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { orgs } from "../src/db/schema/orgs.ts";
import type { Transactions } from "../src/db/tenant.ts";
import { type Call, REFUSED } from "./isolation/call.ts";
import { ERASURE_CALLS } from "./isolation/erasure-calls.ts";
import { EXPORT_CALLS } from "./isolation/export-calls.ts";
import { FACT_CALLS } from "./isolation/fact-calls.ts";
import { IDENTITY_CALLS } from "./isolation/identity-calls.ts";
import { LINK_CALLS } from "./isolation/link-calls.ts";
import { MEMORY_CALLS } from "./isolation/memory-calls.ts";
import { OVERVIEW_CALLS } from "./isolation/overview-calls.ts";
import { REVIEW_CALLS } from "./isolation/review-calls.ts";
import { rowsOf } from "./isolation/rows.ts";
import { RULES_CALLS } from "./isolation/rules-calls.ts";
import { SEARCH_CALLS } from "./isolation/search-calls.ts";
import { NOON, type SeededOrg, secretOf, seedOrg } from "./isolation/seeded-org.ts";
import { TURN_CALLS } from "./isolation/turn-calls.ts";
import { openApp, type TestApp } from "./support/app.ts";
import { TestClock } from "./support/clock.ts";
import { onBothDatabases } from "./support/database.ts";

const src = join(import.meta.dirname, "../src");
const CALLS = {
  ...IDENTITY_CALLS,
  ...MEMORY_CALLS,
  ...FACT_CALLS,
  ...REVIEW_CALLS,
  ...TURN_CALLS,
  ...SEARCH_CALLS,
  ...LINK_CALLS,
  ...ERASURE_CALLS,
  ...RULES_CALLS,
  ...OVERVIEW_CALLS,
  ...EXPORT_CALLS,
};
const everyCall = Object.entries(CALLS).flatMap(([repository, calls]) =>
  Object.entries(calls).map(([method, call]) => [`${repository}.${method}`, call] as const),
);

/** Every method of every class in the files that may query the database. */
async function methodsInSource(): Promise<string[]> {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?:repository|users\/context|jobs\/(?:queue|leases))\.ts$/.test(file),
  );
  const found: string[] = [];
  for (const file of files) {
    const module: Record<string, unknown> = await import(join(src, file));
    for (const [name, value] of Object.entries(module)) {
      if (typeof value !== "function") continue;
      const methods = Object.getOwnPropertyNames(value.prototype);
      found.push(...methods.filter((m) => m !== "constructor").map((m) => `${name}.${m}`));
    }
  }
  return found.sort();
}

test("every method of every repository is tried as the wrong org", async () => {
  expect(everyCall.map(([name]) => name).sort()).toEqual(await methodsInSource());
});

onBothDatabases((engine) => {
  let app: TestApp;
  let theirs: SeededOrg;
  let last: Record<string, string[]>;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf });
    theirs = await seedOrg(app, "theirs");
    last = await rowsOf(app.database.transactions, theirs.orgId);
  });
  afterAll(() => app.dispose());

  const newOrg = async () => {
    const orgId = v7();
    await app.database.transactions.system("bootstrap", (tx) =>
      tx.insert(orgs).values({ id: orgId, slug: orgId, name: "mine", createdAt: NOON }),
    );
    return { orgId };
  };

  /** What the call answers to a new org, after a look at whether it changed the other one. */
  const attempt = async (
    { run }: Call,
    within: (
      mine: { orgId: string },
      work: Parameters<Transactions["tenant"]>[1],
    ) => Promise<unknown>,
  ) => {
    const { transactions } = app.database;
    const mine = await newOrg();
    const before = last;
    const answer = await within(mine, async (tx) => run(theirs, mine, tx)).catch((error: Error) =>
      error.name === "DatabaseFault" ? REFUSED : error,
    );
    last = await rowsOf(transactions, theirs.orgId);
    expect(last).toEqual(before);
    return answer;
  };

  test("the other org has rows in every table, so that there is something to steal", async () => {
    const rows = await rowsOf(app.database.transactions, theirs.orgId);
    expect(Object.keys(rows).length).toBeGreaterThan(15);
    expect(Object.entries(rows).filter(([, found]) => found.length === 0)).toEqual([]);
  });

  test.each(everyCall)(
    "%s sees nothing of another org and changes nothing there",
    async (_, call) => {
      const answer = await attempt(call, (mine, work) =>
        app.database.transactions.tenant(mine, work),
      );
      expect(answer).toEqual(call.answer);
    },
  );

  describe("without row-level security, by the query alone", () => {
    // Its key is a person's, who was looked up in the org before.
    const boundByPolicyAlone = ["KvRepository.upsert"];
    const scoped = everyCall.filter(
      ([name, call]) => !call.takesNoOrg && !boundByPolicyAlone.includes(name),
    );

    test.each(scoped)(
      "%s sees nothing of another org and changes nothing there",
      async (_, call) => {
        const answer = await attempt(call, (_mine, work) =>
          app.database.transactions.system("operator", work),
        );
        expect(answer).toEqual(call.answer);
      },
    );
  });
});
