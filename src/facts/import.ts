import { agentOf } from "../access/agent.ts";
import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import type { FactImport, FactOutcome, FactsImported, ImportedFact } from "./imported.ts";
import type { History } from "./key.ts";
import { type Placement, placementOf } from "./placement.ts";
import { type Statement, type StatementDependencies, Statements } from "./statements.ts";
import { completeDraft } from "./watch.ts";

/** Somebody else's memory wrote it down, as sure as a call that does not say how sure it is. */
const CONFIDENCE = 0.8;
/** Rows of a key that are read to know a source again. */
const KEY_ROWS = 1000;

export interface FactImportDependencies extends StatementDependencies {
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Takes over facts from another memory. */
export class FactImports {
  readonly #deps: FactImportDependencies;
  readonly #statements: Statements;

  constructor(deps: FactImportDependencies) {
    this.#deps = deps;
    this.#statements = new Statements(deps);
  }

  /**
   * Appends claims under keys of their own in a few statements; the same batch again changes nothing. A key that has
   * something already is folded like for any other statement.
   *
   * @throws AppError FORBIDDEN for all but admins without pins; INVALID_INPUT or NOT_FOUND for the scope
   */
  async facts(principal: Principal, batch: FactImport): Promise<FactsImported> {
    requireAdmin(principal);
    return this.#deps.transactions.tenant(principal, async (tx) => {
      const placement = await this.#placement(principal, batch, tx);
      if (!placement) return { outcomes: batch.facts.map(firstIsNew(() => false)) };
      const now = this.#deps.clock();
      const agentId = agentOf(principal, batch.agentId);
      const statements = batch.facts.map((fact): Statement => {
        return {
          ...placement,
          agentId,
          draft: completeDraft({ ...fact, confidence: CONFIDENCE }),
          sourceMessageId: fact.sourceMessageId,
          sourceReason: null,
          conversation: null,
          writtenBy: principal.keyId,
          observedAt: now,
        };
      });
      const histories = await this.#histories(placement, statements, tx);
      if (batch.dryRun) {
        const isThere = ({ key, sourceMessageId }: ImportedFact) =>
          histories.get(key)?.rows.some((row) => row.sourceMessageId === sourceMessageId) ?? false;
        return { outcomes: batch.facts.map(firstIsNew(isThere)) };
      }
      const outcomes = await this.#append(statements, histories, now, tx);
      const count = outcomes.filter((outcome) => outcome === "new").length;
      if (count > 0) await this.#record(principal, placement, count, tx);
      return { outcomes };
    });
  }

  /** Of what came in; who stated a fact is kept with each of them too. */
  #record(by: Principal, { scope }: Placement, count: number, tx: Tx): Promise<void> {
    const subject = { subjectKind: "import", subjectId: `facts:${scope.name}` } as const;
    const event = { actor: by.keyId, action: "import.facts", reason: null, details: { count } };
    return this.#deps.audit.record(by, { ...event, ...subject }, tx);
  }

  async #append(
    statements: readonly Statement[],
    histories: ReadonlyMap<string, History>,
    now: Date,
    tx: Tx,
  ): Promise<FactOutcome[]> {
    const sourcesOf = new Map(
      [...histories].map(([key, { rows }]) => [
        key,
        new Set(rows.map(({ sourceMessageId }) => sourceMessageId)),
      ]),
    );
    const alone: Statement[] = [];
    const others: Statement[] = [];
    const outcomes = statements.map((statement): FactOutcome => {
      const { draft, sourceMessageId = "" } = statement;
      const sources = sourcesOf.get(draft.key) ?? new Set();
      sourcesOf.set(draft.key, sources);
      if (sources.has(sourceMessageId)) return "present";
      (sources.size === 0 ? alone : others).push(statement);
      sources.add(sourceMessageId);
      return "new";
    });
    await this.#statements.appendAlone(alone, now, tx);
    for (const statement of others) await this.#statements.append(statement, now, tx);
    return outcomes;
  }

  async #histories(
    { scope }: Placement,
    statements: readonly Statement[],
    tx: Tx,
  ): Promise<Map<string, History>> {
    const { agentId } = statements[0] ?? { agentId: "" };
    const names = [...new Set(statements.map(({ draft }) => draft.key))];
    const keys = names.map((key) => ({ scope, agentId, key }));
    const among = { orgId: scope.orgId, name: scope.name, keys };
    await this.#deps.keys.lock(among, tx);
    const histories = await this.#deps.keys.histories(among, KEY_ROWS, tx);
    return new Map(histories.map((history) => [history.key.key, history]));
  }

  /** @returns undefined where a dry run would make the person */
  async #placement(principal: Principal, batch: FactImport, tx: Tx) {
    const { scope, userId } = batch;
    if (batch.dryRun && scope === "user" && userId !== undefined && !isUuid(userId)) {
      try {
        await this.#deps.users.find(principal, userId, tx);
      } catch (error) {
        if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
        throw error;
      }
    }
    return placementOf(principal, { scope, userId, storeId: undefined }, this.#deps, tx);
  }
}

/** A fact that is twice in a batch counts once. */
function firstIsNew(isThere: (fact: ImportedFact) => boolean) {
  const seen = new Set<string>();
  return (fact: ImportedFact): FactOutcome => {
    const name = `${fact.key} ${fact.sourceMessageId}`;
    if (seen.has(name) || isThere(fact)) return "present";
    seen.add(name);
    return "new";
  };
}
