import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { EraseRequest } from "./erase-command.ts";
import type { Answer, Operator } from "./operator.ts";
import { withHint } from "./reason.ts";

const LOOK_MS = 1_000;

interface Terminal {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

interface Entry {
  readonly id: string;
  readonly state: string;
  readonly report: { readonly deleted: Readonly<Record<string, number>> };
}

/**
 * Asks for an erasure and, told to wait, leads it to its end: here and now, so that it needs no server that runs.
 *
 * @throws for what the server refuses, an erasure that failed, and a look that found something
 */
export async function runErase(
  operator: Operator,
  request: EraseRequest,
  terminal: Terminal,
): Promise<void> {
  if ("verify" in request) return verify(operator, request.verify, terminal);
  const entry = accepted(await operator.request("POST", request.path, request.body));
  const { id } = entry as unknown as Entry;
  const last = request.wait ? await waitFor(operator, id, terminal) : entry;
  terminal.stdout.write(`${JSON.stringify(last, null, 2)}\n`);
  if ((last as unknown as Entry).state === "failed") throw new Error("the erasure failed");
  if (!request.wait) {
    terminal.stderr.write(
      `Taken down. A server that runs erases it; look with: erase show ${id}. Without one: --wait.\n`,
    );
  }
}

async function waitFor(operator: Operator, id: string, { stderr }: Terminal): Promise<object> {
  const found = () => operator.request("GET", `/v1/erasures/${id}`);
  let running: Promise<unknown> | undefined;
  let drawn = "";
  for (;;) {
    const answer = await found();
    const entry = accepted(answer) as unknown as Entry;
    const { state, report } = entry;
    const rows = Object.values(report.deleted).reduce((sum, count) => sum + count, 0);
    const line = `${state}: ${rows} rows deleted`;
    if (line !== drawn) stderr.write(stderr.isTTY ? `\r\x1b[K${line}` : `${line}\n`);
    drawn = line;
    if (state === "scrubbed" || state === "failed") {
      await running;
      if (stderr.isTTY) stderr.write("\r\x1b[K");
      return entry;
    }
    // Somebody else may be at it: then theirs is waited for.
    running ??= operator
      .request("POST", "/v1/erasures/run")
      .catch(() => {})
      .finally(() => {
        running = undefined;
      });
    await Promise.race([running, sleep(LOOK_MS)]);
  }
}

async function verify(operator: Operator, file: string, { stdout }: Terminal): Promise<void> {
  const report: unknown = JSON.parse(await readFile(file, "utf8"));
  if (typeof report !== "object" || report === null) throw new Error(`${file}: is no report`);
  const answer = accepted(await operator.request("POST", "/v1/erasures/verify", report));
  stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  if (answer.isVerified !== true) throw new Error("something is left, or the chain is broken");
}

function accepted({ status, body }: Answer): Record<string, unknown> {
  if (status < 400) return body;
  const { detail, hint } = body as { detail?: string; hint?: string };
  throw new Error(withHint(detail ?? `the server answered ${status}`, hint));
}
