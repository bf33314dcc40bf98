import { open } from "node:fs/promises";
import type { ReadFact } from "../import/server-memory.ts";
import { readServerMemory } from "../import/server-memory.ts";
import { readTelegram, type TelegramOptions } from "../import/telegram.ts";
import type { Read } from "../import/telegram-message.ts";
import { Batches } from "./import-batches.ts";
import { ImportReport } from "./import-report.ts";
import { SouvenirImport } from "./import-souvenir.ts";
import type { Operator } from "./operator.ts";
import { Progress } from "./progress.ts";
import { explain, withHint } from "./reason.ts";
import { SouvenirReport } from "./souvenir-report.ts";

const CHUNK_BYTES = 256 * 1024;
const NOUNS = { telegram: "messages", "server-memory": "facts", souvenir: "rows" } as const;

/** What the command line asks to be imported. */
export type ImportRequest =
  | {
      readonly from: "souvenir";
      readonly file: string;
      readonly to: { readonly dryRun: boolean };
    }
  | {
      readonly from: "telegram";
      readonly file: string;
      readonly options: TelegramOptions;
      readonly to: {
        readonly account: string;
        readonly dryRun: boolean;
        readonly update: boolean;
        readonly approve: boolean;
      };
    }
  | {
      readonly from: "server-memory";
      readonly file: string;
      readonly to: {
        readonly dryRun: boolean;
        readonly userId: string | undefined;
        readonly agentId: string | undefined;
      };
    };

interface Terminal {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

/**
 * Streams a file to the server in batches, each of which is stored whole or not at all: whatever ends it, the same command
 * again goes on, and passes over what is there.
 *
 * @throws after the report of what came before, for a file that cannot be read to its end and a server that refuses
 */
export async function runImport(
  operator: Operator,
  request: ImportRequest,
  { stdout, stderr }: Terminal,
): Promise<void> {
  const file = await open(request.file);
  const noun = NOUNS[request.from];
  const souvenir = new SouvenirImport(
    (path, body) => send(operator, path, body),
    request.to.dryRun,
  );
  const report = request.from === "souvenir" ? souvenir.report : new ImportReport(noun);
  const progress = new Progress(stderr, { bytes: (await file.stat()).size, noun });
  let bytes = 0;
  async function* chunks() {
    for await (const chunk of file.createReadStream({ highWaterMark: CHUNK_BYTES })) {
      yield chunk as Uint8Array;
      bytes += (chunk as Uint8Array).length;
      progress.update(bytes, report.count);
    }
  }
  try {
    if (report instanceof SouvenirReport) await souvenir.run(chunks());
    else if (request.from === "telegram") await importMessages(operator, request, chunks(), report);
    else if (request.from === "server-memory")
      await importFacts(operator, request, chunks(), report);
  } catch (fault) {
    progress.end();
    if (report.count > 0) stdout.write(report.text(request.to.dryRun));
    throw new Error(`${request.file}: ${explain(fault)}`, { cause: fault });
  } finally {
    await file.close();
  }
  progress.end();
  stdout.write(report.text(request.to.dryRun));
}

async function importMessages(
  operator: Operator,
  { options, to }: Extract<ImportRequest, { from: "telegram" }>,
  chunks: AsyncIterable<Uint8Array>,
  report: ImportReport,
): Promise<void> {
  const batches = new Batches<Extract<Read, { message: object }>["message"]>(async (messages) => {
    const body = { channel: "telegram", ...to, messages };
    const answer = await send(operator, "/v1/imports/messages", body);
    const { outcomes, newPeople } = answer as { outcomes: string[]; newPeople: string[] };
    for (const [at, message] of messages.entries())
      report.outcome(outcomes[at] ?? "", `${message.sentAt.slice(0, 10)} ${message.text ?? ""}`);
    report.newPeople(newPeople);
  });
  await readAll(readTelegram(chunks, options), batches, async (read) => {
    if ("skipped" in read) return report.skipped(read.skipped);
    report.date(read.message.sentAt);
    return batches.add(read.message);
  });
}

async function importFacts(
  operator: Operator,
  { to }: Extract<ImportRequest, { from: "server-memory" }>,
  chunks: AsyncIterable<Uint8Array>,
  report: ImportReport,
): Promise<void> {
  const scope = to.userId === undefined ? "org" : "user";
  const batches = new Batches<Extract<ReadFact, { fact: object }>["fact"]>(async (facts) => {
    const answer = await send(operator, "/v1/imports/facts", { scope, ...to, facts });
    const { outcomes } = answer as { outcomes: string[] };
    for (const [at, { key, value }] of facts.entries())
      report.outcome(outcomes[at] ?? "", `${key}: ${String(value)}`);
  });
  await readAll(readServerMemory(chunks), batches, async (read) =>
    "skipped" in read ? report.skipped(read.skipped, read.line) : batches.add(read.fact),
  );
}

/** What comes before a fault of the file is imported. */
async function readAll<T>(
  items: AsyncIterable<T>,
  batches: { flush(): Promise<void> },
  take: (item: T) => Promise<void>,
): Promise<void> {
  const read = items[Symbol.asyncIterator]();
  for (;;) {
    let next: IteratorResult<T>;
    try {
      next = await read.next();
    } catch (fault) {
      await batches.flush();
      throw fault;
    }
    if (next.done) return batches.flush();
    await take(next.value);
  }
}

async function send(operator: Operator, path: string, body: object): Promise<object> {
  let answer: Awaited<ReturnType<Operator["request"]>>;
  try {
    answer = await operator.request("POST", path, body);
  } catch (cause) {
    throw new Error("the server is gone. Run it again: what is there is passed over.", { cause });
  }
  if (answer.status < 400) return answer.body;
  const { detail, hint } = answer.body as { detail?: string; hint?: string };
  throw new Error(withHint(detail ?? `the server answered ${answer.status}`, hint));
}
