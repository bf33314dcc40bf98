import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Answer } from "./app.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAIN = join(ROOT, "src/main.ts");
const COMMAND_LINE = join(ROOT, "src/cli/souvenir.ts");

/**
 * Spares each start the second or more of processor time that stripping and compiling every module takes, and another one
 * and 180 MB for a model that most tests have no use for.
 */
const SPARING = {
  NODE_COMPILE_CACHE: join(tmpdir(), "souvenir-compile-cache"),
  EMBEDDER: "none",
};

type Env = Readonly<Record<string, string>>;

export interface Ended {
  /** null after a signal that nobody handled. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `node src/main.ts` as a user runs it, with the given variables and, unless they say otherwise, without a model. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #output = "";
  #url = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
    // Not "exit": the last words may still be on their way then.
    this.#exit = once(child, "close");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
  }

  /** Runs until it prints that it is ready. The test that started it ends it, if it still runs then. */
  static async ready(env: Env): Promise<ServerProcess> {
    return ServerProcess.#start(env, /is ready at (http:\S+)[\s\S]*\/mcp.*\n/);
  }

  /** Runs until it listens: the database may not be there yet. Needs the log level info. */
  static async listening(env: Env): Promise<ServerProcess> {
    return ServerProcess.#start(env, /Server listening at (http:[^"]+)/);
  }

  static async #start(env: Env, sign: RegExp): Promise<ServerProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...SPARING, PORT: "0", ...env },
      cwd: ROOT,
    });
    const server = new ServerProcess(child);
    onTestFinished(() => server.kill());
    server.#url = await server.printed(sign);
    return server;
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get url(): string {
    return this.#url;
  }

  /** Everything it wrote until now, to both streams. */
  get output(): string {
    return this.#output;
  }

  /** Waits for the pattern in what it writes. @returns its first group */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.#output);
      if (match) return match[1] ?? match[0];
      if (this.#child.exitCode !== null) throw new Error(`it ended:\n${this.#output}`);
      await Promise.race([once(this.#child.stdout as NodeJS.ReadableStream, "data"), this.#exit]);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** @returns the exit code */
  async exited(): Promise<number | null> {
    await this.#exit;
    return this.#child.exitCode;
  }

  /** Asks it to stop. @returns the exit code */
  async stop(): Promise<number | null> {
    this.signal("SIGTERM");
    return this.exited();
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#exit;
  }

  /** Posts one message to `/mcp`. */
  rpc(method: string, params: object, key: string): Promise<Response> {
    return fetch(`${this.#url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  }

  /** Calls a tool. A request that is refused before the tool throws. */
  async call(tool: string, args: object, key: string): Promise<Answer> {
    const response = await this.rpc("tools/call", { name: tool, arguments: args }, key);
    const { result, error } = (await response.json()) as {
      result?: { isError?: boolean; structuredContent: never; content: [{ text: string }] };
      error?: { message: string };
    };
    if (!result) throw new Error(`${response.status}: ${error?.message}`);
    return result.isError
      ? (JSON.parse(result.content[0].text) as Answer)
      : { value: result.structuredContent };
  }
}

/** Runs a server that is expected to end by itself. */
export function serveInVain(env: Env): Promise<Ended> {
  return runToEnd([MAIN], { PORT: "0", ...env });
}

/** Runs `souvenir <words>`. */
export function souvenir(words: readonly string[], env: Env): Promise<Ended> {
  return runToEnd([COMMAND_LINE, ...words], env);
}

async function runToEnd(args: readonly string[], env: Env): Promise<Ended> {
  const child = spawn(process.execPath, args, { env: { ...SPARING, ...env }, cwd: ROOT });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
