import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idempotentCalls } from "../../src/db/schema/access.ts";
import type { Tx } from "../../src/db/tenant.ts";
import { forgetAnswersJob } from "../../src/idempotency/jobs.ts";
import { IdempotencyRepository } from "../../src/idempotency/repository.ts";
import { IdempotencyService } from "../../src/idempotency/service.ts";
import { openDatabase, type TestDatabase } from "../db/open-database.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";

const DAY_MS = 86_400_000;

onBothDatabases((engine) => {
  const clock = new TestClock();
  const repository = new IdempotencyRepository();
  const idempotency = new IdempotencyService(repository, clock.now);
  let db: TestDatabase;
  beforeAll(async () => {
    db = await openDatabase(engine);
  });
  afterAll(() => db.close());

  interface Caller {
    readonly orgId: string;
    readonly keyId: string;
  }
  const newCaller = async (): Promise<Caller> => ({ ...(await db.newOrg()), keyId: v7() });

  /** Counts how often the work ran; its answer is new each time. */
  function counted() {
    const ran: string[] = [];
    const work = async (): Promise<{ id: string }> => {
      const id = v7();
      ran.push(id);
      return { id };
    };
    return { ran, work };
  }
  const once = <T>(
    caller: Caller,
    key: string | undefined,
    body: unknown,
    work: (tx: Tx) => Promise<T>,
    tool = "remember_fact",
  ) =>
    db.transactions.tenant(caller, (tx) =>
      idempotency.once(caller, { tool, key, body }, tx, () => work(tx)),
    );

  test("the same key and body give the first answer again and do the work once", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const first = await once(caller, "k", { a: 1 }, work);
    expect(await once(caller, "k", { a: 1 }, work)).toEqual(first);
    expect(ran).toHaveLength(1);
  });

  test("the same body in another order of its keys is the same body", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const first = await once(caller, "k", { a: 1, b: { c: [1, { x: 1, y: 2 }], d: null } }, work);
    const again = await once(caller, "k", { b: { d: null, c: [1, { y: 2, x: 1 }] }, a: 1 }, work);
    expect(again).toEqual(first);
    expect(ran).toHaveLength(1);
  });

  test.each([
    ["another value", { a: 2 }],
    ["another type", { a: "1" }],
    ["one more parameter", { a: 1, b: undefined, c: null }],
    ["another order of a list", { a: [2, 1] }],
    ["nothing", {}],
  ])("the same key with %s is a CONFLICT, and the first answer stays", async (_what, body) => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const first = await once(caller, "k", { a: 1 }, work);
    await expect(once(caller, "k", body, work)).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await once(caller, "k", { a: 1 }, work)).toEqual(first);
    expect(ran).toHaveLength(1);
  });

  test("20 at once do the work once and all get its answer", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => once(caller, "k", { a: 1 }, work)),
    );
    expect(ran).toHaveLength(1);
    expect(new Set(answers.map(({ id }) => id))).toEqual(new Set(ran));
  });

  test("of 20 different bodies at once under one key one is done, and 19 are a CONFLICT", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => once(caller, "k", { n }, work)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(19).fill("CONFLICT"));
    expect(ran).toHaveLength(1);
  });

  test("without a key every call is done", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    await once(caller, undefined, {}, work);
    await once(caller, undefined, {}, work);
    expect(ran).toHaveLength(2);
  });

  test("a call that failed may be made again: neither its work nor its key is kept", async () => {
    const caller = await newCaller();
    const failed = once(caller, "k", {}, async (tx) => {
      await tx.execute(sql`select 1 / 0`);
    });
    await expect(failed).rejects.toThrow();
    const { ran, work } = counted();
    await once(caller, "k", { corrected: true }, work);
    expect(ran).toHaveLength(1);
  });

  test("a key belongs to one org, credential and tool: nobody meets another one's answer", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    await once(caller, "k", {}, work);
    await once({ ...caller, keyId: v7() }, "k", {}, work);
    await once({ ...(await newCaller()), keyId: caller.keyId }, "k", {}, work);
    await once(caller, "k", {}, work, "archive_turn");
    expect(ran).toHaveLength(4);
  });

  test("names that join alike are different keys", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    await once(caller, "bc", {}, work, "a");
    await once(caller, "c", {}, work, "ab");
    await once(caller, 'b","c', {}, work, "a");
    await once(caller, "c", {}, work, 'a","b');
    expect(ran).toHaveLength(4);
  });

  test("neither the key nor the body is stored, only their hashes", async () => {
    const caller = await newCaller();
    await once(caller, "a key that tells", { told: "a body that tells" }, async () => ({ id: 1 }));
    const rows = await db.transactions.tenant(caller, (tx) => tx.select().from(idempotentCalls));
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("tells");
  });

  test("answers are kept for a week, and then the key is free", async () => {
    const caller = await newCaller();
    const { ran, work } = counted();
    const forget = () =>
      forgetAnswersJob(repository, db.transactions, clock.now).run(
        { id: "", kind: "", orgId: null, payload: "{}", attempts: 1 },
        { signal: new AbortController().signal },
      );
    await once(caller, "k", {}, work);
    clock.advance(7 * DAY_MS);
    await forget();
    await once(caller, "k", {}, work);
    expect(ran).toHaveLength(1);
    clock.advance(1);
    await forget();
    await once(caller, "k", {}, work);
    expect(ran).toHaveLength(2);
  });
});
