import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

/** An agent runtime that takes what is forwarded, now and then not at the first time. */
export class Runtime {
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #webhook: Webhook;
  readonly #onFault: (fault: string) => void;
  /** What it took of each chat, in order. */
  readonly #taken = new Map<number, number[]>();
  readonly #seen = new Set<string>();
  receipts = 0;
  failures = 0;

  constructor(secret: string, onFault: (fault: string) => void) {
    this.#webhook = new Webhook(secret);
    this.#onFault = onFault;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/souvenir`;
  }

  /** How many different messages it has. */
  get distinct(): number {
    return this.#seen.size;
  }

  async listen(): Promise<void> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), "close");
  }

  textOf(chat: number, at: number): string {
    return `chat ${chat} message ${at}`;
  }

  /** Every message of the approved, none of the others; repetitions only of the one that was just taken. */
  check(lengths: readonly number[], isPending: (chat: number) => boolean): void {
    for (const [chat, length] of lengths.entries()) {
      const taken = this.#taken.get(chat) ?? [];
      const once = taken.filter((at, i) => at !== taken[i - 1]);
      const expected = isPending(chat) ? 0 : length;
      if (once.length !== expected || once.some((at, i) => at !== i)) {
        this.#onFault(`chat ${chat}: forwarded ${once.join(" ")} of ${expected}`);
      }
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const dice = Math.random();
    // Before it took the message, and after it did: the sender cannot tell the two apart.
    if (dice < 0.02) return void request.socket.destroy();
    if (dice < 0.04) {
      this.failures++;
      return void response.writeHead(503).end();
    }
    try {
      const { data } = this.#webhook.verify(body.toString(), {
        "webhook-id": String(request.headers["webhook-id"]),
        "webhook-timestamp": String(request.headers["webhook-timestamp"]),
        "webhook-signature": String(request.headers["webhook-signature"]),
      }) as { data: { message: { text: string } } };
      const [, chat, at] = /^chat (\d+) message (\d+)$/.exec(data.message.text) ?? [];
      const taken = this.#taken.get(Number(chat)) ?? [];
      this.#taken.set(Number(chat), [...taken, Number(at)]);
      this.#seen.add(data.message.text);
      this.receipts++;
    } catch (error) {
      this.#onFault(`a delivery that cannot be verified: ${String(error)}`);
    }
    if (dice < 0.06) return void request.socket.destroy();
    response.writeHead(204).end();
  }
}
