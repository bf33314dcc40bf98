import { afterAll, beforeAll, expect, test } from "vitest";
import { endSessionsJob } from "../../src/access/jobs.ts";
import { KeyRepository } from "../../src/access/repository.ts";
import { KeyService } from "../../src/access/service.ts";
import { SessionRepository } from "../../src/access/session-repository.ts";
import { Sessions } from "../../src/access/sessions.ts";
import { sessions as sessionTable } from "../../src/db/schema/access.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const HOUR = 3_600_000;

onBothDatabases((engine) => {
  const clock = new TestClock();
  const rows = new SessionRepository();
  let app: TestApp;
  let sessions: Sessions;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now });
    const { transactions } = app.database;
    const shared = { transactions, clock: clock.now };
    // Its services are for making keys, which nothing does here.
    const keys = new KeyService({
      ...shared,
      keys: new KeyRepository(),
      users: undefined as never,
      orgs: undefined as never,
      audit: undefined as never,
      defaultAgent: "atlas",
    });
    sessions = new Sessions({ ...shared, sessions: rows, keys });
  });
  afterAll(() => app.dispose());

  const newKey = async (input: object = {}) => {
    const { body } = await app.v1("POST", "/v1/keys", { name: "test", ...input });
    return body as { key: string; info: { id: string } };
  };
  const signIn = async (key: string) => {
    const session = await sessions.signIn(key);
    if (!session) throw new Error("not signed in");
    return session;
  };
  const stored = () =>
    app.database.transactions.system("operator", (tx) => tx.select().from(sessionTable));

  test("a session speaks for the key, with its role and pins", async () => {
    const { key, info } = await newKey({ role: "admin", pinAgentId: "maya" });
    const { token } = await signIn(key);
    expect(await sessions.find(token)).toMatchObject({
      keyId: info.id,
      role: "admin",
      pins: { agentId: "maya" },
    });
  });

  test("an unknown key starts no session, and an unknown token is nobody", async () => {
    const before = await stored();
    expect(await sessions.signIn("svr_nobody-has-this-key-0123456789")).toBeUndefined();
    expect(await stored()).toEqual(before);
    expect(await sessions.find("no such token")).toBeUndefined();
  });

  test("neither the key nor the token is stored, and no two tokens are equal", async () => {
    const { key } = await newKey();
    const tokens = [(await signIn(key)).token, (await signIn(key)).token];
    expect(new Set(tokens).size).toBe(2);
    const text = JSON.stringify(await stored());
    for (const secret of [key, ...tokens]) expect(text).not.toContain(secret);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  });

  test("a session is over 12 hours after signing in, however much it was used", async () => {
    const { token, expiresAt } = await signIn((await newKey()).key);
    expect(expiresAt.getTime() - clock.now().getTime()).toBe(12 * HOUR);
    for (let hour = 1; hour < 12; hour++) {
      clock.advance(HOUR);
      expect(await sessions.find(token)).toBeDefined();
    }
    clock.advance(HOUR - 1);
    expect(await sessions.find(token)).toBeDefined();
    clock.advance(1);
    expect(await sessions.find(token)).toBeUndefined();
  });

  test("revoking a key ends its sessions at once, and no other's", async () => {
    const [one, other] = [await newKey(), await newKey()];
    const [ended, kept] = [await signIn(one.key), await signIn(other.key)];
    await app.v1("DELETE", `/v1/keys/${one.info.id}`);
    expect(await sessions.find(ended.token)).toBeUndefined();
    expect(await sessions.find(kept.token)).toBeDefined();
    expect(await sessions.signIn(one.key)).toBeUndefined();
  });

  test("signing out ends this session alone; a session of another org stays", async () => {
    const { key } = await newKey();
    const [first, second] = [await signIn(key), await signIn(key)];
    const theirs = await signIn(await app.createKey({}, "theirs"));
    const me = await sessions.find(first.token);
    if (!me) throw new Error("not signed in");
    await sessions.signOut(me, first.token);
    await sessions.signOut(me, theirs.token);
    expect(await sessions.find(first.token)).toBeUndefined();
    expect(await sessions.find(second.token)).toBeDefined();
    expect(await sessions.find(theirs.token)).toBeDefined();
  });

  test("the hourly job deletes what is over and nothing else", async () => {
    const { transactions } = app.database;
    const over = await signIn((await newKey()).key);
    clock.advance(12 * HOUR);
    const fresh = await signIn((await newKey()).key);
    const job = endSessionsJob(rows, transactions, clock.now);
    expect(job.cron).toMatch(/^\d+ \* \* \* \*$/);
    const { sessions: deleted } = (await job.run(undefined as never, undefined as never)) ?? {};
    expect(deleted).toBeGreaterThan(0);
    expect(await stored()).toHaveLength(1);
    expect(await sessions.find(over.token)).toBeUndefined();
    expect(await sessions.find(fresh.token)).toBeDefined();
    expect(await job.run(undefined as never, undefined as never)).toEqual({ sessions: 0 });
  });
});
