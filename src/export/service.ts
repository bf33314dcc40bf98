import { v7 } from "uuid";
import type { Principal } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { FactReview } from "../facts/review.ts";
import { scopeOf } from "../facts/row.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { Arrivals } from "./arrivals.ts";
import { FORMAT, FORMAT_VERSION, type Header, type Totals } from "./document.ts";
import { encodeRow } from "./encoding.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { scopeOfQuery } from "./reach.ts";
import { type ExportRepository, START, type StoredRow } from "./repository.ts";
import { type AnySection, LISTED_NAMES, SECTION_NAMES } from "./rows.ts";
import { type ExportQuery, type ExportScope, idOf } from "./scope.ts";
import { sectionsOf } from "./sections.ts";

/** A piece of the answer, and about what one page of rows takes in memory. */
const PIECE_BYTES = 64 * 1024;
const PAGE_BYTES = 512 * 1024;
const FIRST_PAGE = 100;
const MAX_PAGE = 1000;
const MIN_PAGE = 10;

export interface ExportDependencies {
  readonly rows: ExportRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly review: FactReview;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** An export that is about to be sent. */
export interface Export {
  readonly fileName: string;
  readonly contentType: string;
  /** The text in pieces, each read when it is asked for. */
  readonly pieces: AsyncGenerator<string>;
}

/** Hands out everything that is kept of a person, a store or the org. */
export class Exports {
  readonly #deps: ExportDependencies;

  constructor(deps: ExportDependencies) {
    this.#deps = deps;
  }

  /**
   * Begins an export, and notes who takes it: what is read of the pieces cannot be taken back. No transaction is open
   * between two pages, so whoever reads slowly holds up nobody: each page is read as it is at its time, and what arrives
   * meanwhile may be in it or not.
   *
   * @throws AppError NOT_FOUND for foreign ids and outside the key's pins; FORBIDDEN without the role; INVALID_INPUT for
   *   a query that does not name one person, store or the org
   */
  async begin(by: Principal, query: ExportQuery): Promise<Export> {
    const { transactions, clock } = this.#deps;
    const at = clock();
    const scope = await transactions.tenant(by, async (tx) => {
      const found = await scopeOfQuery(by, query, this.#deps, tx);
      await this.#note(by, found, query, at, tx);
      return found;
    });
    const isJson = query.format === "json";
    return {
      fileName: `souvenir-${scope.name}-${idOf(scope)}.${query.format}`,
      contentType: isJson
        ? "application/json; charset=utf-8"
        : "application/x-ndjson; charset=utf-8",
      pieces: inPieces(this.#text(scope, layoutOf(query.format), at)),
    };
  }

  async *#text(scope: ExportScope, layout: Layout, at: Date): AsyncGenerator<string> {
    yield layout.head(await this.#header(scope, at));
    const arrivals = new Arrivals(v7());
    const totals: Totals = {};
    for (const [at, name] of sectionsOf(scope, LISTED_NAMES).entries())
      yield* this.#section(scope, layout, "listed", name, at === 0, undefined);
    yield layout.turn();
    for (const [at, name] of sectionsOf(scope, SECTION_NAMES).entries())
      totals[name] = yield* this.#section(scope, layout, "section", name, at === 0, arrivals);
    yield layout.end(totals);
  }

  async *#section(
    scope: ExportScope,
    layout: Layout,
    group: "listed" | "section",
    name: AnySection,
    isFirst: boolean,
    arrivals: Arrivals | undefined,
  ): AsyncGenerator<string, number> {
    yield layout.open(group, name, isFirst);
    let count = 0;
    for await (const row of this.#rows(scope, name)) {
      if (arrivals && !arrivals.admits(name, row)) continue;
      yield layout.row(group, name, encodeRow(name, row), count === 0);
      count++;
    }
    yield layout.close();
    return count;
  }

  async *#rows(scope: ExportScope, name: AnySection): AsyncGenerator<StoredRow> {
    const { rows, transactions } = this.#deps;
    let limit = FIRST_PAGE;
    for (let position = START; ; ) {
      const from = position;
      const page = await transactions.tenant(scope, (tx) =>
        rows.page(scope, name, from, limit, tx),
      );
      yield* page.rows;
      if (!page.next) return;
      position = page.next;
      limit = nextLimit(limit, page.rows);
    }
  }

  async #header(scope: ExportScope, at: Date): Promise<Header> {
    const { rows, transactions } = this.#deps;
    const org = await transactions.tenant(scope, (tx) => rows.org(scope, tx));
    if (!org) throw new AppError("NOT_FOUND", "the org is gone");
    const counts: Header["counts"] = {};
    await transactions.tenant(scope, async (tx) => {
      for (const name of sectionsOf(scope, [...LISTED_NAMES, ...SECTION_NAMES]))
        counts[name] = await rows.count(scope, name, tx);
    });
    return {
      format: FORMAT,
      version: FORMAT_VERSION,
      scope: scope.name,
      id: idOf(scope),
      org: { ...org, createdAt: org.createdAt.toISOString() },
      exportedAt: at.toISOString(),
      counts,
    };
  }

  async #note(by: Principal, scope: ExportScope, query: ExportQuery, at: Date, tx: Tx) {
    const { audit, review } = this.#deps;
    const subject = { subjectKind: scope.name, subjectId: idOf(scope) };
    const details = { format: query.format };
    const action = `${scope.name}.exported`;
    await audit.record(scope, { actor: by.keyId, action, ...subject, reason: null, details }, tx);
    await review.noteExport(scopeOf(scope.name, scope.orgId, idOf(scope)), by, at, tx);
  }
}

/** Long rows are read by the few, short ones by the hundred. */
function nextLimit(limit: number, rows: readonly StoredRow[]): number {
  let bytes = 0;
  for (const row of rows)
    for (const value of Object.values(row)) bytes += typeof value === "string" ? value.length : 8;
  const fitting = Math.round((limit * PAGE_BYTES) / Math.max(bytes, 1));
  return Math.max(MIN_PAGE, Math.min(fitting, 2 * limit, MAX_PAGE));
}

/** A piece for each row would cost more than the row. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let piece = "";
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_BYTES) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}
