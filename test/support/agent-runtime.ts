import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";

/** 32 bytes. */
export const AGENT_SECRET = "whsec_c291dmVuaXItdGVzdC1zZWNyZXQtMzItYnl0ZXMhISE=";

export interface Received {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at, it expects
  readonly data: any;
}

type Answer = (received: Received, response: ServerResponse) => unknown;

/** An agent's webhook over HTTP, which trusts what the Standard Webhooks library of others verifies and nothing else. */
export class AgentRuntime {
  /** Every request whose signature is good, in order. */
  readonly received: Received[] = [];
  /** Requests that were not taken, with what was wrong. */
  readonly refused: unknown[] = [];
  /** Default: 204. What it does not end is ended with 204. */
  answer: Answer = () => {};
  readonly #server: Server;
  #port = 0;
  readonly #now: () => Date;

  private constructor(server: Server, now: () => Date) {
    this.#server = server;
    this.#now = now;
  }

  static async start(now: () => Date, secret = AGENT_SECRET): Promise<AgentRuntime> {
    const server = createServer();
    const runtime = new AgentRuntime(server, now);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        void runtime.#take(secret, request.headers, body, response);
      });
    });
    await runtime.open();
    return runtime;
  }

  /** At the address it had before. */
  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/agent`;
  }

  get env() {
    return { AGENT_WEBHOOK_URL: this.url, AGENT_WEBHOOK_SECRET: AGENT_SECRET };
  }

  /** What it was told of messages, as `type text`. */
  get said(): string[] {
    return this.received.map(({ type, data }) => `${type} ${data.message?.text ?? ""}`.trim());
  }

  forget(): void {
    this.received.length = 0;
    this.answer = () => {};
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(
    secret: string,
    headers: IncomingHttpHeaders,
    body: string,
    response: ServerResponse,
  ) {
    try {
      const event = this.#verify(secret, headers, body);
      const received = { id: String(headers["webhook-id"]), ...event };
      this.received.push(received);
      await this.answer(received, response);
    } catch (error) {
      this.refused.push(error);
      response.statusCode = 401;
    }
    if (response.writableEnded || response.destroyed) return;
    if (response.statusCode === 200) response.statusCode = 204;
    response.end();
  }

  /** The library compares with the machine's clock. */
  #verify(secret: string, headers: IncomingHttpHeaders, body: string) {
    vi.useFakeTimers({ toFake: ["Date"], now: this.#now() });
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>) as Omit<
        Received,
        "id"
      >;
    } finally {
      vi.useRealTimers();
    }
  }
}
