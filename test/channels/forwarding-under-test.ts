import { type SQL, sql } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { AGENT_SECRET, AgentRuntime } from "../support/agent-runtime.ts";
import { openApp, TELEGRAM_SECRET, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import type { Engine } from "../support/database.ts";
import { privateMessage } from "../support/telegram.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;

/** The secrets of further accounts: as the test's bot shows it, as the runtime verifies it, and one that cannot sign. */
const SECRETS = { IN: TELEGRAM_SECRET, OUT: AGENT_SECRET, WORD: "correct-horse" };
const secretOf = (variable: string) => SECRETS[variable as keyof typeof SECRETS];

/** A server that forwards to a runtime of its own, for the tests of one describe block; jobs run when a test says so. */
export class ForwardingUnderTest {
  readonly clock = new TestClock("2026-03-01T10:00:30.000Z");
  readonly engine: Engine;
  runtime!: AgentRuntime;
  app!: TestApp;
  /** Two people whom the test alone knows. */
  one = 99;
  two = 100;

  constructor(engine: Engine) {
    this.engine = engine;
    beforeAll(async () => {
      this.runtime = await AgentRuntime.start(this.clock.now);
      this.app = await this.open();
    });
    afterAll(async () => {
      await this.app.dispose();
      await this.runtime.close();
    });
    beforeEach(() => {
      this.runtime.forget();
      this.one += 2;
      this.two += 2;
    });
    afterEach(async () => {
      await this.query(sql`delete from forward_deliveries`);
      expect(this.runtime.refused.splice(0)).toEqual([]);
    });
  }

  /** A server that forwards to the runtime. */
  open(env: Record<string, string> = {}, options: Parameters<typeof openApp>[1] = {}) {
    const all = { ...this.runtime.env, TELEGRAM_AUTO_APPROVE: "true", ...env };
    // No test waits for the clock on the wall.
    const patient = { clock: this.clock.now, background: false, memoryWithinMs: 60_000, secretOf };
    return openApp(this.engine, { ...patient, env: all, ...options });
  }

  write(person: number, message_id: number, text = `m${message_id}`, fields = {}) {
    return this.app.telegram(privateMessage(person, { message_id, text, ...fields }));
  }

  query(query: SQL) {
    return this.app.database.transactions.system("operator", (tx) => tx.execute(query));
  }

  async deliveries(state: "dead" | "pending") {
    const { body } = await this.app.v1("GET", `/v1/deliveries?state=${state}`);
    return body.deliveries as { id: string; attempts: number; lastError: string | null }[];
  }

  forward() {
    return this.app.jobs.runDue();
  }

  later(milliseconds: number) {
    this.clock.advance(milliseconds);
    return this.forward();
  }

  /** Of the person `one`. */
  get heardOfOne() {
    return this.runtime.received.filter(
      ({ data }) => data.message.conversationId === `${this.one}`,
    );
  }
}
