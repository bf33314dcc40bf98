import { describe, expect, inject, test } from "vitest";
import { type App, buildApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createDatabase, onBothDatabases } from "../support/database.ts";
import { oneEngine } from "./one-engine.ts";

type Env = Readonly<Record<string, string>>;

/** Starts a server on a database as `npm start` does. @returns it, and the key that its banner would show */
async function start(database: Env, env: Env = {}): Promise<{ app: App; shown?: string }> {
  const app = await buildApp(
    readConfig({ LOG_LEVEL: "silent", EMBEDDER: "none", ...env, ...database }),
  );
  let shown: string | undefined;
  await app.start({
    ready: (ownerKey) => {
      shown = ownerKey;
    },
    failed: (error) => {
      throw error;
    },
  });
  return { app, ...(shown !== undefined && { shown }) };
}

async function keysBy(app: App, key: string, org?: string) {
  const headers = {
    host: "localhost",
    authorization: `Bearer ${key}`,
    ...(org !== undefined && { "x-souvenir-org": org }),
  };
  const answer = await app.http.inject({ method: "GET", url: "/v1/keys", headers });
  return { status: answer.statusCode, keys: answer.json().keys as { id: string }[] | undefined };
}

const revoke = (app: App, id: string) =>
  app.http.inject({
    method: "DELETE",
    url: `/v1/keys/${id}`,
    headers: { host: "localhost", authorization: `Bearer ${app.operatorToken}` },
  });

const GIVEN = "given-by-the-operator-0123456789abcdef";

onBothDatabases((engine) => {
  test("the first start makes an owner key and shows it once; the next start shows none", async () => {
    const database = await createDatabase(engine);
    const first = await start(database.env);
    expect(first.shown).toMatch(/^svr_[\w-]{43}$/);
    expect((await keysBy(first.app, first.shown ?? "")).keys).toHaveLength(1);
    await first.app.close();
    const second = await start(database.env);
    expect(second.shown).toBeUndefined();
    expect((await keysBy(second.app, first.shown ?? "")).keys).toHaveLength(1);
    await second.app.close();
    await database.dispose();
  });
});

test("OWNER_KEY is the first owner key, shown nowhere, and once revoked never works again", async () => {
  const database = await createDatabase(oneEngine());
  const first = await start(database.env, { OWNER_KEY: GIVEN });
  expect(first.shown).toBeUndefined();
  const { keys } = await keysBy(first.app, GIVEN);
  expect(keys).toHaveLength(1);
  await revoke(first.app, keys?.[0]?.id ?? "");
  expect((await keysBy(first.app, GIVEN)).status).toBe(401);
  await first.app.close();

  const second = await start(database.env, { OWNER_KEY: GIVEN });
  expect((await keysBy(second.app, GIVEN)).status).toBe(401);
  expect(second.shown).toMatch(/^svr_/);
  expect((await keysBy(second.app, second.shown ?? "")).keys).toHaveLength(2);
  await second.app.close();
  await database.dispose();
});

test("another OWNER_KEY later adds none while there is an owner, and another DEFAULT_ORG gets a key of its own", async () => {
  const database = await createDatabase(oneEngine());
  const first = await start(database.env, { OWNER_KEY: GIVEN });
  await first.app.close();
  const other = await start(database.env, { OWNER_KEY: GIVEN.toUpperCase() });
  expect((await keysBy(other.app, GIVEN.toUpperCase())).status).toBe(401);
  expect((await keysBy(other.app, GIVEN)).status).toBe(200);
  await other.app.close();

  const moved = await start(database.env, { OWNER_KEY: GIVEN, DEFAULT_ORG: "second" });
  const [ofFirst, ofSecond] = [
    await keysBy(moved.app, GIVEN),
    await keysBy(moved.app, moved.shown ?? ""),
  ];
  expect(ofFirst.keys).toHaveLength(1);
  expect(ofSecond.keys).toHaveLength(1);
  expect(ofFirst.keys?.[0]?.id).not.toBe(ofSecond.keys?.[0]?.id);
  await moved.app.close();
  await database.dispose();
});

describe.skipIf(inject("postgresUrl") === undefined)("three processes that start at once", () => {
  const startThree = (database: Env, env: Env = {}) =>
    Promise.all([1, 2, 3].map(() => start(database, env)));

  test("make one org and one owner key, which one of them shows and all of them take", async () => {
    const database = await createDatabase("postgres");
    const started = await startThree(database.env);
    const shown = started.flatMap((one) => one.shown ?? []);
    expect(shown).toHaveLength(1);
    for (const { app } of started) {
      expect((await keysBy(app, shown[0] ?? "")).keys).toHaveLength(1);
    }
    await Promise.all(started.map(({ app }) => app.close()));
    await database.dispose();
  });

  test.each([
    ["a generated key", {}],
    ["OWNER_KEY", { OWNER_KEY: GIVEN }],
  ])("make one owner key too where the last one was revoked (%s)", async (_how, env) => {
    const database = await createDatabase("postgres");
    const before = await start(database.env, {
      OWNER_KEY: "an-owner-key-of-earlier-days-0123456789",
    });
    const { keys } = await keysBy(before.app, before.app.operatorToken);
    await revoke(before.app, keys?.[0]?.id ?? "");
    await before.app.close();
    const started = await startThree(database.env, env);
    expect(started.flatMap((one) => one.shown ?? [])).toHaveLength("OWNER_KEY" in env ? 0 : 1);
    for (const { app } of started) {
      expect((await keysBy(app, app.operatorToken)).keys).toHaveLength(2);
    }
    await Promise.all(started.map(({ app }) => app.close()));
    await database.dispose();
  });
});
