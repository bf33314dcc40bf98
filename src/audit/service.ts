import { z } from "zod";
import { type Principal, requireAdmin } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { PageQuery, pageOf } from "../page.ts";
import type { AuditRepository, AuditRow } from "./repository.ts";

/** Why somebody did something: kept for ever, so ids and causes rather than what was said. */
export const Reason = z.string().trim().min(1).max(240);

/** What can be acted on. */
const SUBJECT_KINDS = [
  "user",
  "link",
  "message",
  "key",
  "org",
  "store",
  "channel",
  "rules",
  "turn",
  "delivery",
  "job",
  "import",
  "fact",
  "erasure",
] as const;

/** Something that was done to somebody or something. Holds ids, no contents. */
export interface AuditEvent {
  /** A key's id, `operator`, or what proved itself otherwise, e.g. `code`. */
  readonly actor: string;
  /** As `<subject>.<what was done>`, e.g. `user.blocked`. */
  readonly action: string;
  readonly subjectKind: (typeof SUBJECT_KINDS)[number];
  /** An id, or a name where there is none: `channel:account`, the kind of a job. */
  readonly subjectId: string;
  readonly reason: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface AuditRecord extends AuditEvent {
  readonly id: string;
  readonly at: string;
}

/** What is recorded when a person's status is decided. */
const STATUS_ACTIONS = ["user.pending", "user.approved", "user.blocked"];

/** Query of `GET /v1/audit`. */
export const AuditQuery = z.strictObject({
  subjectKind: z.enum(SUBJECT_KINDS).optional(),
  subjectId: z.string().min(1).max(200).optional(),
  /** A key's id, or what else acted. */
  actor: z.string().min(1).max(64).optional(),
  action: z
    .string()
    .regex(/^[a-z_]+\.[a-z_]+$/, "is written like user.blocked")
    .max(64)
    .optional(),
  ...PageQuery,
});
export type AuditQuery = z.output<typeof AuditQuery>;

/** Who did what to whom, and why; what happened to facts has a trail of its own. */
export class AuditService {
  readonly #events: AuditRepository;
  readonly #transactions: Transactions;
  readonly #clock: Clock;

  constructor(events: AuditRepository, transactions: Transactions, clock: Clock) {
    this.#events = events;
    this.#transactions = transactions;
    this.#clock = clock;
  }

  /** Owned by the transaction of what it tells of: either both are stored or neither. */
  record(
    scope: { readonly orgId: string },
    { details, ...event }: AuditEvent,
    tx: Tx,
  ): Promise<void> {
    const row = { ...event, details: details === undefined ? null : JSON.stringify(details) };
    return this.#events.insert(scope, { ...row, at: this.#clock() }, tx);
  }

  /** The last decision about a person's status; undefined where there was none. */
  async lastStatus(
    scope: { readonly orgId: string },
    userId: string,
    tx: Tx,
  ): Promise<Pick<AuditEvent, "action" | "details"> | undefined> {
    const wanted = { subjectKind: "user", subjectId: userId, actions: STATUS_ACTIONS };
    const row = await this.#events.last(scope, wanted, tx);
    return row && { action: row.action, ...detailsOf(row) };
  }

  /** Newest first. */
  list(
    by: Principal,
    { limit, ...filter }: AuditQuery,
  ): Promise<{ events: AuditRecord[]; nextBefore: string | null }> {
    requireAdmin(by);
    return this.#transactions.tenant(by, async (tx) => {
      const rows = await this.#events.list(by, { ...filter, limit: limit + 1 }, tx);
      const { page, nextBefore } = pageOf(rows, limit);
      const events = page.map(({ orgId: _, details, at, ...row }) => ({
        ...row,
        subjectKind: row.subjectKind as AuditEvent["subjectKind"],
        at: at.toISOString(),
        ...detailsOf({ details }),
      }));
      return { events, nextBefore };
    });
  }
}

function detailsOf({ details }: Pick<AuditRow, "details">): Pick<AuditEvent, "details"> {
  return details === null ? {} : { details: JSON.parse(details) as Record<string, unknown> };
}
