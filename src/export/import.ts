import { OPERATOR_KEY_ID, type Principal, requireOwner } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { CONSOLIDATE_JOB } from "../facts/consolidation.ts";
import { FACT_SCOPES } from "../facts/fact.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Header } from "./document.ts";
import type { ExportImportRepository } from "./import-repository.ts";
import type { ExportImport, ImportedLine } from "./imported.ts";
import { type ReadLine, type Row, readLine } from "./line.ts";
import { Restoring } from "./restoring.ts";
import type { SectionName } from "./rows.ts";

/** Facts that are let go in one statement. */
const RELEASED = 2000;
/** The settings of an org that nobody has set. */
const UNSET = { memoryEnabled: true, memoryOffShare: 0, extractionDailyLimit: null };

export interface ExportImportDependencies {
  readonly rows: ExportImportRepository;
  readonly audit: AuditService;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
  /** Lets the runner look for due jobs. */
  readonly wake: () => void;
}

interface Item {
  readonly number: number;
  readonly row: Row;
}

/** Restores what an export holds: the same ids, times and states. */
export class ExportImports {
  readonly #deps: ExportImportDependencies;
  readonly #restoring: Restoring;

  constructor(deps: ExportImportDependencies) {
    this.#deps = deps;
    this.#restoring = new Restoring(deps.rows);
  }

  /**
   * Restores a batch of lines, whole or not at all; the same batch again changes nothing. What is there already stays as it
   * is, and a line that cannot be restored is refused by its number, alone.
   *
   * @throws AppError FORBIDDEN for all but owners without pins: a file says who did what, and when
   */
  async lines(by: Principal, batch: ExportImport): Promise<{ lines: ImportedLine[] }> {
    requireOwner(by);
    const read = batch.lines.map(({ number, text }) => ({ number, line: readLine(text) }));
    const lines = await this.#deps.transactions.tenant(by, async (tx) => {
      const found: ImportedLine[] = [];
      for (const { section, items } of runsOf(read))
        found.push(...(await this.#restore(by, section, items, batch.dryRun, tx)));
      for (const { number, line } of read) {
        if (line.kind === "row") continue;
        found.push(outcomeOf(number, line));
        if (line.kind === "header" && !batch.dryRun) await this.#note(by, line.header, tx);
      }
      return found.sort((a, b) => a.number - b.number);
    });
    if (batch.end && !batch.dryRun) await this.#end(by);
    return { lines };
  }

  async #restore(
    by: Principal,
    section: SectionName,
    items: readonly Item[],
    dryRun: boolean,
    tx: Tx,
  ): Promise<ImportedLine[]> {
    if (section === "settings") return this.#settings(by, items, dryRun, tx);
    if (section === "channelAccounts" && by.keyId !== OPERATOR_KEY_ID) {
      // An account names variables of the server's environment.
      const reason = "channel accounts are restored on the server's own command line";
      return items.map(({ number }) => ({ number, section, outcome: "refused", reason }));
    }
    return this.#restoring.rows(by, section, items, dryRun, tx);
  }

  /** An org that was set up by hand stays as it is. */
  async #settings(
    by: Principal,
    items: readonly Item[],
    dryRun: boolean,
    tx: Tx,
  ): Promise<ImportedLine[]> {
    const { rows } = this.#deps;
    const outcomes: ImportedLine[] = [];
    for (const { number, row } of items) {
      const [stored = {}] = await rows.find(by, "settings", [], [row], tx);
      const differs = Object.keys(UNSET).filter((field) => stored[field] !== row[field]);
      const isUnset = Object.entries(UNSET).every(([field, value]) => stored[field] === value);
      const line = { number, section: "settings" };
      if (differs.length === 0) outcomes.push({ ...line, outcome: "present" });
      else if (!isUnset) outcomes.push({ ...line, outcome: "differs", reason: differs.join(", ") });
      else {
        if (!dryRun) await rows.setMemory(by, row, tx);
        outcomes.push({ ...line, outcome: "new" });
      }
    }
    return outcomes;
  }

  #note(by: Principal, { scope, id, exportedAt }: Header, tx: Tx): Promise<void> {
    const subject = { subjectKind: "org", subjectId: by.orgId } as const;
    const event = { actor: by.keyId, action: "org.imported", ...subject, reason: null };
    return this.#deps.audit.record(by, { ...event, details: { scope, id, exportedAt } }, tx);
  }

  /** From here on the facts are folded, which puts them into the index too. */
  async #end(by: Principal): Promise<void> {
    const { rows, queue, transactions, clock, wake } = this.#deps;
    for (const scope of FACT_SCOPES) {
      let released = RELEASED;
      while (released === RELEASED)
        released = await transactions.tenant(by, (tx) => rows.release(by, scope, RELEASED, tx));
    }
    const now = clock();
    const job = { kind: CONSOLIDATE_JOB, orgId: by.orgId, runAt: now };
    await transactions.tenant(by, (tx) => queue.request(job, now, tx));
    wake();
  }
}

/** Rows in the order of the file, those of one section in a row together; linked people behind those they are linked into. */
function runsOf(read: readonly { readonly number: number; readonly line: ReadLine }[]) {
  const runs: { section: SectionName; items: Item[] }[] = [];
  for (const { number, line } of read) {
    if (line.kind !== "row") continue;
    const { section, row } = line;
    const last = runs.at(-1);
    const isLinked = (of?: Row) => typeof of?.linkedInto === "string";
    if (last?.section === section && isLinked(last.items[0]?.row) === isLinked(row))
      last.items.push({ number, row });
    else runs.push({ section, items: [{ number, row }] });
  }
  return runs;
}

function outcomeOf(number: number, line: Exclude<ReadLine, { kind: "row" }>): ImportedLine {
  switch (line.kind) {
    case "header":
    case "totals":
      return { number, section: line.kind, outcome: "listed" };
    case "listed":
      return { number, section: line.section, outcome: "listed" };
    case "fault": {
      const { section, reason } = line;
      return { number, ...(section && { section }), outcome: "refused", reason };
    }
  }
}
