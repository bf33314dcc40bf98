import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * Stands between a client and PostgreSQL and can stand still, as a stopped server does: connections stay open, new ones
 * are taken, and no answer comes.
 */
export class StallingProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server = createServer((client) => this.#serve(client));
  readonly #answers = new Set<Socket>();
  #lastWords: string | undefined;
  #isStalled = false;

  private constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
  }

  static async before(url: string): Promise<StallingProxy> {
    const proxy = new StallingProxy(url);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The same database by way of here. */
  url(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return through.href;
  }

  /** From now on, or once a client has sent `lastWords`, which still reach the database. */
  stall(lastWords?: string): void {
    this.#lastWords = lastWords;
    if (lastWords !== undefined) return;
    this.#isStalled = true;
    for (const answer of this.#answers) answer.pause();
  }

  resume(): void {
    this.#lastWords = undefined;
    this.#isStalled = false;
    for (const answer of this.#answers) answer.resume();
  }

  close(): void {
    this.#server.close();
    for (const answer of this.#answers) answer.destroy();
  }

  #serve(client: Socket): void {
    const answers = connect(this.#target);
    this.#answers.add(answers);
    answers.on("data", (bytes) => client.write(bytes));
    if (this.#isStalled) answers.pause();
    client.on("data", (bytes) => {
      answers.write(bytes);
      if (this.#lastWords !== undefined && bytes.includes(this.#lastWords)) this.stall();
    });
    for (const [one, other] of [
      [client, answers],
      [answers, client],
    ] as const) {
      one.on("error", () => {}).on("close", () => other.destroy());
    }
    answers.on("close", () => this.#answers.delete(answers));
  }
}
