import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { OutboxRepository } from "../../src/channels/outbox-repository.ts";
import { AgentRuntime } from "../support/agent-runtime.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";
import { ForwardingUnderTest, HOUR, MINUTE, SECOND } from "./forwarding-under-test.ts";

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  test("a person's messages wait for the first one, and other people's do not", async () => {
    s.runtime.answer = ({ data }, response) => {
      if (data.message.text === "m1" && s.runtime.received.length < 6) response.statusCode = 503;
    };
    for (const message of [1, 2, 3]) await s.write(s.one, message);
    await s.write(s.two, 7);
    await s.forward();
    expect(new Set(s.runtime.said)).toEqual(
      new Set(["message.received m1", "message.received m7"]),
    );
    expect(await s.deliveries("pending")).toMatchObject([
      { attempts: 0, lastError: null },
      { attempts: 0, lastError: null },
      { attempts: 2, lastError: "status 503" },
    ]);
    for (let wait = 0; wait < 6; wait++) await s.later(30 * SECOND);
    const ofAna = s.heardOfOne;
    const texts = ofAna.map(({ data }) => data.message.text);
    expect(texts.slice(-3)).toEqual(["m1", "m2", "m3"]);
    expect(new Set(texts.slice(0, -2))).toEqual(new Set(["m1"]));
    expect(new Set(ofAna.map(({ id }) => id)).size).toBe(3);
  });

  test("tries come at once, after 1, 2, 5, 15, 30 and 60 seconds, then minutes, then hours", async () => {
    s.runtime.answer = (_, response) => {
      response.statusCode = 500;
    };
    await s.write(s.one, 1);
    await s.forward();
    expect(s.runtime.received).toHaveLength(2);
    const waits = [1, 2, 5, 15, 30, 60, 5 * 60, 30 * 60, 60 * 60, 60 * 60];
    for (const [tries, seconds] of waits.entries()) {
      await s.later(seconds * SECOND - 1);
      expect(s.runtime.received).toHaveLength(2 + tries);
      // A fifth at most comes on top of it.
      await s.later(seconds * 0.2 * SECOND + 2);
      expect(s.runtime.received).toHaveLength(3 + tries);
    }
  });

  test("a receiver that asks for time gets it, up to an hour", async () => {
    const asked = ["120", new Date(s.clock.now().getTime() + 10 * MINUTE).toUTCString(), "86400"];
    s.runtime.answer = (_, response) => {
      const retryAfter = asked.shift();
      if (retryAfter === undefined) return;
      response.writeHead(429, { "retry-after": retryAfter }).end();
    };
    await s.write(s.one, 1);
    await s.forward();
    for (const wait of [2 * MINUTE, 8 * MINUTE, HOUR]) {
      const before = s.runtime.received.length;
      await s.later(wait - 2 * SECOND);
      expect(s.runtime.received).toHaveLength(before);
      await s.later(2 * SECOND);
      expect(s.runtime.received).toHaveLength(before + 1);
    }
    expect(await s.deliveries("pending")).toEqual([]);
  });

  test("a redirect is a failure, and nothing is sent where it leads", async () => {
    const elsewhere = await AgentRuntime.start(s.clock.now);
    s.runtime.answer = (_, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    };
    await s.write(s.one, 1);
    await s.forward();
    expect(await s.deliveries("pending")).toMatchObject([
      { lastError: "status 307: redirects are not followed" },
    ]);
    expect(elsewhere.received).toEqual([]);
    await elsewhere.close();
  });

  test("a receiver that is not there is tried again", async () => {
    await s.runtime.close();
    await s.write(s.one, 1);
    await s.forward();
    expect(await s.deliveries("pending")).toMatchObject([
      { attempts: 2, lastError: "no connection: ECONNREFUSED" },
    ]);
    await s.runtime.open();
    await s.later(2 * SECOND);
    expect(s.runtime.said).toEqual(["message.received m1"]);
  });

  test("an endless answer is hung up on, and its status counts", async () => {
    s.runtime.answer = (_, response) => {
      response.writeHead(200);
      const more = () => {
        if (response.destroyed) return;
        response.write("x".repeat(16 * 1024), () => setImmediate(more));
      };
      more();
      return new Promise<void>((resolve) => response.once("close", resolve));
    };
    await s.write(s.one, 1);
    await s.forward();
    expect(await s.deliveries("pending")).toEqual([]);
    expect(s.runtime.received).toHaveLength(1);
  });

  test("what a process that stands still was sending is sent again under the same id", async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    s.runtime.answer = async () => {
      if (s.runtime.received.length > 1) return;
      reached.resolve();
      await held.promise;
    };
    await s.write(s.one, 1);
    await s.write(s.one, 2);
    const first = s.forward();
    await reached.promise;
    s.clock.advance(61 * SECOND);
    await s.write(s.two, 9);
    await expect.poll(() => s.runtime.said.length, { timeout: 10_000 }).toBe(4);
    held.resolve();
    await first;
    await s.forward();
    const ofAna = s.heardOfOne;
    expect(ofAna.map(({ data }) => data.message.text)).toEqual(["m1", "m1", "m2"]);
    expect(ofAna[0]?.id).toBe(ofAna[1]?.id);
    // The pass that the clock woke may still be writing down what it sent.
    await expect.poll(() => s.query(sql`select 1 from forward_queues`)).toEqual([]);
  });

  test.each(["127.0.0.1", "localhost"])(
    "an account's own URL may not lead into the private network (%s), also not over a kept connection",
    async (host) => {
      const { url } = s.runtime;
      // Leaves no connection behind that the account could use.
      await s.write(s.two, 1);
      await s.forward();
      const account = {
        channel: "telegram",
        account: `bot-${host.replaceAll(".", "-")}`,
        secretVariable: "IN",
      };
      const forward = { forwardUrl: url.replace("127.0.0.1", host), forwardSecretVariable: "OUT" };
      const added = await s.app.v1("POST", "/v1/channels", { ...account, ...forward });
      expect(added.status).toBe(201);
      const message = { message_id: 1, text: "out of here" };
      const told = await s.app.telegram(privateMessage(s.one, message), account.account);
      expect(told.status).toBe(200);
      await s.forward();
      expect(s.heardOfOne).toEqual([]);
      expect(await s.deliveries("pending")).toMatchObject([
        { lastError: "refused: the forward URL leads to a private or reserved address" },
      ]);
    },
  );

  test("an account whose secret cannot sign says so, and other people's messages go on", async () => {
    const account = { channel: "telegram", account: "unsigned", secretVariable: "IN" };
    const forward = { forwardUrl: "https://agent.example.com", forwardSecretVariable: "WORD" };
    await s.app.v1("POST", "/v1/channels", { ...account, ...forward });
    const message = { message_id: 1, text: "to nobody" };
    await s.app.telegram(privateMessage(s.one, message), account.account);
    await s.write(s.two, 1);
    await s.forward();
    expect(await s.deliveries("pending")).toMatchObject([
      { account: account.account, lastError: expect.stringContaining("no signing secret") },
    ]);
    expect(s.runtime.said).toEqual(["message.received m1"]);
    expect(await s.query(sql`select 1 from jobs where last_error is not null`)).toEqual([]);
  });

  test("two runs at once, and a server beside, send each message once and each person's in order", async () => {
    const other = engine === "postgres" ? await s.open({}, { database: s.app.env }) : undefined;
    const people = Array.from({ length: 20 }, (_, n) => 700_000 + n);
    for (const message of [1, 2, 3, 4, 5]) {
      await Promise.all(people.map((person) => s.write(person, message)));
    }
    await Promise.all([s.forward(), s.forward(), other?.jobs.runDue()]);
    await s.forward();
    expect(s.runtime.received).toHaveLength(100);
    const ids = new Set(s.runtime.received.map(({ id }) => id));
    expect(ids.size).toBe(100);
    for (const person of people) {
      const theirs = s.runtime.received.filter(
        ({ data }) => data.message.conversationId === `${person}`,
      );
      expect(theirs.map(({ data }) => data.message.text)).toEqual(["m1", "m2", "m3", "m4", "m5"]);
    }
    await other?.dispose();
  });

  test("a server that stops gives back what it was sending, as if it had not been tried", async () => {
    const reached = Promise.withResolvers<void>();
    s.runtime.answer = async () => {
      if (s.runtime.received.length > 1) return;
      reached.resolve();
      await new Promise(() => {});
    };
    const database = engine === "postgres" ? { database: s.app.env } : {};
    const other = await s.open({}, database);
    await other.telegram(privateMessage(s.one, { message_id: 1, text: "hold on" }));
    void other.jobs.runDue();
    await reached.promise;
    await other.jobs.stop();
    const rows = await other.database.transactions.system("operator", (tx) =>
      tx.execute(sql`select attempts, last_error from forward_deliveries`),
    );
    expect(rows).toEqual([{ attempts: 0, last_error: null }]);
    await other.dispose();
  });

  test("a message leaves as soon as it is archived", async () => {
    const database = engine === "postgres" ? { database: s.app.env } : {};
    const other = await s.open({}, { ...database, background: true });
    await other.telegram(privateMessage(s.one, { message_id: 1, text: "now" }));
    await expect.poll(() => s.runtime.said, { timeout: 4_000 }).toContain("message.received now");
    await other.dispose();
  });

  test("the next one to serve is found by its time, without a look at what else waits", async () => {
    const [plan, ...more] = await s.app.database.transactions.system("operator", async (tx) => {
      await tx.execute(sql`set local enable_seqscan = on`);
      await tx.execute(sql`
        insert into users (id, org_id, status, role, created_at)
        select gen_random_uuid(), (select id from orgs limit 1), 'approved', 'customer', now()
        from generate_series(1, 20000)`);
      await tx.execute(sql`
        insert into forward_queues (org_id, user_id, last_position, next_at)
        select org_id, id, 1, now() from users on conflict do nothing`);
      await tx.execute(sql`
        insert into forward_deliveries
          (id, org_id, user_id, position, event, message_id, channel, account, created_at)
        select gen_random_uuid(), org_id, id, 1, 'message.received', id, 'telegram', 'main', now()
        from users`);
      await tx.execute(sql`analyze forward_queues, forward_deliveries`);
      const rows: string[] = [];
      const lines = async (statement: ReturnType<typeof sql>) => {
        const found = await tx.execute<{ "QUERY PLAN": string }>(sql`explain ${statement}`);
        rows.push(found.map((row) => row["QUERY PLAN"]).join("\n"));
      };
      const explained = new Proxy(tx, {
        get: (target, property) =>
          property === "execute"
            ? async (statement: ReturnType<typeof sql>) => {
                await lines(statement);
                return [];
              }
            : Reflect.get(target, property),
      });
      await new OutboxRepository().claim(16, { now: new Date(), until: new Date() }, explained);
      await tx.execute(sql`delete from forward_queues`);
      return rows;
    });
    expect(more).toEqual([]);
    expect(plan).toContain("Index Scan using forward_queues_next_idx");
    expect(plan).not.toMatch(/Seq Scan on forward_|forward_deliveries/);
  });
});
