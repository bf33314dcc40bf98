import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { DatabaseEnv } from "./databases.ts";
import type { ServerReply } from "./throughput-server.ts";

/** The loaded server, seen from the load generator. */
export class ServerProcess {
  readonly mcp: string;
  readonly echo: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, urls: { mcp: string; echo: string }) {
    this.#child = child;
    this.mcp = urls.mcp;
    this.echo = urls.echo;
  }

  /** Nothing of this process's environment is passed on. */
  static async start(env: DatabaseEnv): Promise<ServerProcess> {
    const child = fork(new URL("./throughput-server.ts", import.meta.url), {
      env: { ...env, RATE_LIMIT_PER_MINUTE: "0" },
      // Log lines are made and written as in production, and go nowhere.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const reply = await replyOf(child);
    if (reply.kind !== "listening") throw new Error("the server did not say where it listens");
    return new ServerProcess(child, reply);
  }

  /** CPU microseconds of the process so far, all its threads. */
  async cpuMicros(): Promise<number> {
    this.#child.send("cpu");
    const reply = await replyOf(this.#child);
    if (reply.kind !== "cpu") throw new Error("the server did not tell its CPU time");
    return reply.micros;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }
}

/** The next message of the child, or its end as an error. */
async function replyOf(child: ChildProcess): Promise<ServerReply> {
  const listening = new AbortController();
  const { signal } = listening;
  try {
    return await Promise.race([
      once(child, "message", { signal }).then(([reply]) => reply as ServerReply),
      once(child, "exit", { signal }).then(([code]) => {
        throw new Error(`the server ended with code ${code}`);
      }),
    ]);
  } finally {
    listening.abort();
  }
}
