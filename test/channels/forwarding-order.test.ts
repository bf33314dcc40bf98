import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { AgentRuntime } from "../support/agent-runtime.ts";
import { onBothDatabases } from "../support/database.ts";
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
    expect(await s.query(sql`select 1 from forward_queues`)).toEqual([]);
  });
});
