import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { type DescribedOperation, idParametersOf, operationsOf } from "./operations.ts";
import { REQUESTS, requestOf, withId } from "./requests.ts";
import { v1 } from "./rpc.ts";
import { type SeededOrg, secretOf, seedOrg } from "./seeded-org.ts";

const NOBODY = "01900000-0000-7000-8000-000000000000";
const SECRET = "of another person";

onBothDatabases((engine) => {
  let app: TestApp;
  let org: SeededOrg;
  let operations: DescribedOperation[];
  const keys: Record<string, string> = {};
  const others: Record<string, readonly string[]> = {};
  let unique = 0;
  beforeAll(async () => {
    app = await openApp(engine, { clock: new TestClock().now, secretOf, background: false });
    org = await seedOrg(app, "acme");
    await app.v1("POST", "/v1/stores", { slug: "other-shop" }, "acme");
    keys.person = await app.createKey({ pinUserId: "telegram:100" }, "acme");
    keys.store = await app.createKey({ pinStoreId: "shop" }, "acme");
    const userId = "telegram:200";
    await app.ok("update_memory", { userId, key: "k", value: SECRET }, org.keys.member);
    const turn = { userId, channel: "web", userMessage: SECRET, assistantMessage: SECRET };
    const { userMessageId } = await app.ok("archive_turn", turn, org.keys.member);
    const remember = async (fact: object) => {
      const told = { key: "k", value: SECRET, ...fact };
      return String((await app.ok("remember_fact", told, org.keys.member)).factId);
    };
    const { user } = await app.ok("get_user_context", { userId }, org.keys.member);
    others.person = [String((user as { id: string }).id), userId];
    others.messageId = [String(userMessageId)];
    others.userFact = [await remember({ scope: "user", userId })];
    others.store = ["other-shop"];
    others.storeFact = [await remember({ scope: "store", storeId: "other-shop" })];
    operations = (await operationsOf(app)).filter((one) => one["x-caller"] === "member");
  });
  afterAll(() => app.dispose());

  /** Ids outside of a pin, by the parameter that takes them. */
  const OUTSIDE: Record<string, Record<string, string>> = {
    person: { userId: "person", messageId: "messageId", factId: "userFact" },
    store: { storeId: "store", factId: "storeFact" },
  };

  describe.each(["person", "store"])("a key of one %s", (pin) => {
    test.each(Object.entries(REQUESTS))("by %s reaches no other one", async (id, prepare) => {
      const operation = operations.find(({ operationId }) => operationId === id);
      if (!operation) return;
      const parts = await prepare(app, org, `p${++unique}`);
      for (const { name, place } of idParametersOf(operation)) {
        for (const other of others[OUTSIDE[pin]?.[name] ?? ""] ?? []) {
          const ask = async (value: string) => {
            const sent = requestOf(operation, withId(parts, place, name, value));
            const { status, text } = await v1(app, keys[pin] ?? "", ...sent);
            return [
              status,
              text.replaceAll(encodeURIComponent(value), "<id>").replaceAll(value, "<id>"),
            ];
          };
          const outside = await ask(other);
          expect(outside[1]).not.toContain(SECRET);
          expect([name, ...outside]).toEqual([name, ...(await ask(NOBODY))]);
        }
      }
    });

    test("is told nothing of others by what takes no id", async () => {
      for (const { method, url } of operations) {
        if (method !== "GET" || url.includes(":")) continue;
        for (const query of ["", "?scope=user", "?scope=store", "?scope=org"]) {
          const { text } = await v1(app, keys[pin] ?? "", "GET", url + query);
          if (pin === "person" || !url.includes("export"))
            expect([url, text]).toEqual([url, expect.not.stringContaining(SECRET)]);
        }
      }
    });
  });
});
