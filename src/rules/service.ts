import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { OrgService } from "../orgs/service.ts";
import { tokenCounter } from "../recall/tokens.ts";
import { isUuid } from "../uuid.ts";
import { type DiffLine, diffLines } from "./diff.ts";
import type { RulesRepository, RulesRow } from "./repository.ts";
import type {
  CurrentRules,
  NewRules,
  RestoreRules,
  RulesOf,
  RulesQuery,
  RulesVersion,
  WrittenRules,
} from "./rules.ts";

interface RulesDependencies {
  readonly rules: RulesRepository;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** What became of a text between two versions; `before` is null where there was none. */
export interface RulesDiff {
  readonly before: RulesVersion | null;
  readonly after: WrittenRules;
  readonly lines: readonly DiffLine[];
}

/** What an org and its stores tell their agents. Nothing is ever changed or taken away: each save is a new version. */
export class RulesService {
  readonly #deps: RulesDependencies;

  constructor(deps: RulesDependencies) {
    this.#deps = deps;
  }

  /** What is in force. @throws AppError NOT_FOUND for an unknown store; FORBIDDEN, here and below, but for admins */
  current(by: Principal, of: RulesOf): Promise<CurrentRules> {
    return this.#within(by, async (tx) => {
      const storeId = await this.#ownerOf(by, of, tx);
      const row = await this.#deps.rules.latest(by, storeId, tx);
      const { version = 0, text = "", tokens = 0 } = row ?? {};
      return { storeId, version, text, tokens, saved: row ? versionOf(row) : null };
    });
  }

  /** Every version that was saved, newest first. @throws as `current` does */
  versions(
    by: Principal,
    { limit, before, ...of }: RulesQuery,
  ): Promise<{ versions: RulesVersion[]; nextBefore: string | null }> {
    return this.#within(by, async (tx) => {
      const owner = await this.#ownerOf(by, of, tx);
      const rows = await this.#deps.rules.list(by, owner, { before, limit: limit + 1 }, tx);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return { versions: page.map(versionOf), nextBefore: last ? String(last.version) : null };
    });
  }

  /** @throws AppError NOT_FOUND */
  version(by: Principal, id: string): Promise<WrittenRules> {
    return this.#within(by, async (tx) => writtenOf(await this.#find(by, id, tx)));
  }

  /**
   * A version beside the one before it, or beside the one given.
   *
   * @throws AppError NOT_FOUND; INVALID_INPUT where the two are of different owners
   */
  diff(by: Principal, id: string, against?: string): Promise<RulesDiff> {
    return this.#within(by, async (tx) => {
      const after = await this.#find(by, id, tx);
      const before =
        against === undefined
          ? await this.#deps.rules.find(
              by,
              { owner: after.storeId, version: after.version - 1 },
              tx,
            )
          : await this.#find(by, against, tx);
      if (before && before.storeId !== after.storeId) {
        throw new AppError("INVALID_INPUT", "against: is not a version of the same rules");
      }
      return {
        before: before ? versionOf(before) : null,
        after: writtenOf(after),
        lines: diffLines(before?.text ?? "", after.text),
      };
    });
  }

  /**
   * Saves a version. The text that is in force already makes none.
   *
   * @throws AppError NOT_FOUND for an unknown store; CONFLICT when somebody saved since the version it is based on
   */
  async save(by: Principal, { text, basedOn, reason, ...of }: NewRules): Promise<WrittenRules> {
    const tokens = await this.#count(text);
    return this.#within(by, async (tx) => {
      const owner = await this.#ownerOf(by, of, tx);
      return this.#save(by, owner, { text, tokens, basedOn, reason: reason ?? null }, tx);
    });
  }

  /** Saves the text of an old version as a new one. @throws AppError NOT_FOUND; CONFLICT as `save` does */
  restore(by: Principal, id: string, { basedOn, reason }: RestoreRules): Promise<WrittenRules> {
    return this.#within(by, async (tx) => {
      const { storeId, version, text, tokens } = await this.#find(by, id, tx);
      const why = reason ?? `version ${version} again`;
      return this.#save(by, storeId, { text, tokens, basedOn, reason: why }, tx);
    });
  }

  async #save(
    by: Principal,
    storeId: string | null,
    saved: Pick<RulesRow, "text" | "tokens" | "reason"> & { readonly basedOn: number },
    tx: Tx,
  ): Promise<WrittenRules> {
    const { rules, audit, clock } = this.#deps;
    const { basedOn, ...written } = saved;
    const latest = await rules.latest(by, storeId, tx);
    // Whoever sends a form twice has saved it once.
    if (latest && latest.text === saved.text) return writtenOf(latest);
    const version = (latest?.version ?? 0) + 1;
    const stamp = { createdBy: by.keyId, createdAt: clock() };
    const row =
      basedOn === version - 1
        ? await rules.insert(by, { ...written, ...stamp, storeId, version }, tx)
        : undefined;
    if (!row) {
      throw new AppError("CONFLICT", "somebody saved these rules meanwhile", {
        hint: "Read what they saved, then save yours on top of it.",
      });
    }
    const subject = { subjectKind: "rules", subjectId: row.id } as const;
    const details = { storeId, version, tokens: row.tokens };
    const event = { actor: by.keyId, action: "rules.saved", reason: row.reason, details };
    await audit.record(by, { ...subject, ...event }, tx);
    return writtenOf(row);
  }

  async #count(text: string): Promise<number> {
    return text === "" ? 0 : (await tokenCounter())(text);
  }

  async #find(by: Principal, id: string, tx: Tx): Promise<RulesRow> {
    const row = isUuid(id) ? await this.#deps.rules.find(by, { id }, tx) : undefined;
    if (row) return row;
    throw new AppError("NOT_FOUND", "no version of rules has this id");
  }

  async #ownerOf(by: Principal, { storeId }: RulesOf, tx: Tx): Promise<string | null> {
    if (storeId === undefined) return null;
    return (await this.#deps.orgs.findStore(by, storeId, tx)).id;
  }

  async #within<T>(by: Principal, work: (tx: Tx) => Promise<T>): Promise<T> {
    requireAdmin(by);
    return this.#deps.transactions.tenant(by, work);
  }
}

function versionOf(row: Omit<RulesRow, "text">): RulesVersion {
  const { id, storeId, version, tokens, reason, createdBy, createdAt } = row;
  return { id, storeId, version, tokens, reason, createdBy, createdAt: createdAt.toISOString() };
}

function writtenOf(row: RulesRow): WrittenRules {
  return { ...versionOf(row), text: row.text };
}
