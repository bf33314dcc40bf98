import { z } from "zod";
import { OPERATOR_KEY_ID, type Principal, requireOwner } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import { canonicalJson } from "../canonical-json.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { conversationHash } from "../facts/conversation.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { OrgService } from "../orgs/service.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { faultsOf, hashOf } from "./chain.ts";
import type { Erasure, ErasureKind, NewErasure, NewReset, Scan, Target } from "./erasure.ts";
import type { Ledger } from "./ledger.ts";
import { type Entry, type LedgerRepository, shown } from "./ledger-repository.ts";
import { ERASE_JOB } from "./progress.ts";
import type { ErasureRepository } from "./repository.ts";
import type { Scanning } from "./scanning.ts";

/** Entries that a check of the chain reads at once. */
const PAGE = 500;

/** Query of `GET /v1/erasures`. */
export const ErasureQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  /** `nextBefore` of the page before: a place in the chain. */
  before: z.coerce.number().int().min(1).max(2_147_483_647).optional(),
});
export type ErasureQuery = z.output<typeof ErasureQuery>;

/** What a second look at an erasure came to. */
export interface Verification {
  readonly id: string;
  /** Nothing was found and the chain is whole. */
  readonly isVerified: boolean;
  readonly scan: Scan;
  /** In sentences: what is wrong with the chain, or with the report that was shown. */
  readonly faults: readonly string[];
}

export interface ErasureDependencies {
  readonly entries: LedgerRepository;
  readonly ledger: Ledger;
  readonly rows: ErasureRepository;
  readonly scanning: Scanning;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly queue: JobQueue;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly wake: () => void;
}

interface Subject {
  readonly kind: ErasureKind;
  readonly subjectId: string;
  readonly target: Target;
  /** One of these has to be typed. */
  readonly names: readonly (string | null)[];
}

/** Erases people, stores, orgs and conversations, resets scopes, and shows that it is so. Owners only. */
export class ErasureService {
  readonly #deps: ErasureDependencies;

  constructor(deps: ErasureDependencies) {
    this.#deps = deps;
  }

  /**
   * Takes the request down; a job does the rest. Asked again while it runs, the answer is the same entry.
   *
   * @throws AppError FORBIDDEN; NOT_FOUND; INVALID_INPUT where what is typed does not name it; CONFLICT where there is
   *   nothing such
   */
  erase(by: Principal, input: NewErasure): Promise<Erasure> {
    return this.#begin(by, (tx) => this.#subjectOf(by, input, tx), input.confirm);
  }

  /** Takes away what was learned in a scope: facts, vectors, what events tell. @throws as `erase` */
  reset(by: Principal, input: NewReset): Promise<Erasure> {
    return this.#begin(by, (tx) => this.#scopeOf(by, input, tx), input.confirm);
  }

  async #begin(
    by: Principal,
    find: (tx: Tx) => Promise<Subject>,
    confirm: string,
  ): Promise<Erasure> {
    requireOwner(by);
    const { ledger, audit, queue, transactions, clock, wake } = this.#deps;
    const entry = await transactions.tenant(by, async (tx) => {
      const subject = await find(tx);
      requireNamed(subject.names, confirm);
      const opened = await ledger.open(by, by, subject, tx);
      const act = { actor: by.keyId, action: `${subject.kind}.erasing`, reason: null };
      await audit.record(by, { ...act, subjectKind: "erasure", subjectId: opened.id }, tx);
      return opened;
    });
    // The server's own work: the org's rows, the job's among them, may be what goes. The job's next slot does it otherwise.
    const now = clock();
    const job = { kind: ERASE_JOB, orgId: null, payload: {}, runAt: now };
    await transactions.system("erasure", (tx) =>
      queue.enqueue({ ...job, dedupeKey: entry.id }, now, tx),
    );
    wake();
    return shown(entry);
  }

  /** @throws AppError FORBIDDEN; NOT_FOUND */
  async find(by: Principal, id: string): Promise<Erasure> {
    return shown(await this.#find(by, id));
  }

  /** The operator finds those of orgs that are gone, too. */
  async #find(by: Principal, id: string): Promise<Entry> {
    requireOwner(by);
    const { entries, transactions } = this.#deps;
    if (!isUuid(id)) throw new AppError("NOT_FOUND", "no erasure has this id");
    const own = await transactions.tenant(by, (tx) => entries.find(by, id, tx));
    const entry =
      own ??
      (by.keyId === OPERATOR_KEY_ID
        ? await transactions.system("operator", (tx) => entries.findOrphan(id, tx))
        : undefined);
    if (!entry) throw new AppError("NOT_FOUND", "no erasure has this id");
    return entry;
  }

  /** Newest first. */
  async list(
    by: Principal,
    { limit, before }: ErasureQuery,
  ): Promise<{ erasures: Erasure[]; nextBefore: string | null }> {
    requireOwner(by);
    const { entries, transactions } = this.#deps;
    const rows = await transactions.tenant(by, (tx) =>
      entries.list(by, { before, limit: limit + 1 }, tx),
    );
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { erasures: page.map(shown), nextBefore: last ? String(last.position) : null };
  }

  /**
   * Scans again for what an entry erased, and checks the chain from its first entry on.
   *
   * @param report as somebody kept it, to be held against what is stored
   * @throws AppError FORBIDDEN; NOT_FOUND
   */
  async verify(by: Principal, id: string, report?: Erasure): Promise<Verification> {
    const entry = await this.#find(by, id);
    const { scanning } = this.#deps;
    const wanted = { ids: entry.report.ids, names: [], salt: "", hashes: [] };
    const scan = await scanning.run(wanted, new AbortController().signal);
    const faults = await this.#chainFaults(entry);
    if (report) faults.push(...differences(report, shown(entry)));
    const isVerified = Object.keys(scan.left).length === 0 && faults.length === 0;
    return { id, isVerified, scan, faults };
  }

  async #chainFaults({ orgId }: { readonly orgId: string }): Promise<string[]> {
    const { entries, transactions } = this.#deps;
    const faults: string[] = [];
    let after = 0;
    let hash: string | null = null;
    for (;;) {
      const page = await transactions.tenant({ orgId }, (tx) =>
        entries.following({ orgId }, { after, limit: PAGE }, tx),
      );
      const [first] = page;
      if (first && first.position !== after + 1) faults.push(`entry ${after + 1} is missing`);
      faults.push(...faultsOf(page.map(shown), hash));
      const last = page.at(-1);
      if (!last || page.length < PAGE) return faults;
      after = last.position;
      hash = last.hash ?? hash;
    }
  }

  async #subjectOf(by: Principal, input: NewErasure, tx: Tx): Promise<Subject> {
    switch (input.kind) {
      case "user": {
        const { userId, names } = await this.#person(by, input.userId, tx);
        return { kind: "user", subjectId: userId, target: { kind: "user", userId }, names };
      }
      case "store": {
        const { orgs } = this.#deps;
        const store = await orgs.findStore(by, input.storeId, tx);
        const target = { kind: "store", storeId: store.id } as const;
        return { kind: "store", subjectId: store.id, target, names: [store.slug] };
      }
      case "org":
        return {
          ...{ kind: "org", subjectId: by.orgId, target: { kind: "org" } },
          names: [await this.#deps.orgs.slugOf(by, tx)],
        };
      case "conversation": {
        const { channel, account, conversationId } = input;
        const place = { channel, account, conversationId };
        const count = await this.#deps.rows.countMessages(by, place, tx);
        if (count === 0) throw new AppError("NOT_FOUND", "no conversation has this id");
        const target = { kind: "conversation", ...place } as const;
        const subjectId = conversationHash(place);
        return { kind: "conversation", subjectId, target, names: [conversationId] };
      }
    }
  }

  async #scopeOf(by: Principal, input: NewReset, tx: Tx): Promise<Subject> {
    const kind = "reset";
    switch (input.scope) {
      case "user": {
        const { userId, names } = await this.#person(by, input.userId, tx);
        return { kind, subjectId: userId, target: { kind, userId }, names };
      }
      case "store": {
        const store = await this.#deps.orgs.findStore(by, input.storeId, tx);
        return {
          ...{ kind, subjectId: store.id, target: { kind, storeId: store.id } },
          names: [store.slug],
        };
      }
      case "org": {
        const slug = await this.#deps.orgs.slugOf(by, tx);
        return { kind, subjectId: by.orgId, target: { kind }, names: [slug] };
      }
    }
  }

  /** A person with all that they are called by. */
  async #person(by: Principal, name: string, tx: Tx) {
    const { users } = this.#deps;
    const { userId } = await users.find(by, name, tx);
    const profile = await users.profile(by, userId, tx);
    const of = profile?.identities ?? [];
    const ids = of.flatMap((one) => [one.externalId, `${one.channel}:${one.externalId}`]);
    const names = [userId, ...ids, profile?.username ?? null, profile?.firstName ?? null];
    return { userId, names };
  }
}

/** @throws AppError INVALID_INPUT */
function requireNamed(names: readonly (string | null)[], typed: string): void {
  const plain = (text: string) => text.normalize("NFC").trim().replace(/^@/, "").toLowerCase();
  if (names.some((name) => name !== null && name !== "" && plain(name) === plain(typed))) return;
  throw new AppError("INVALID_INPUT", "confirm: does not name what is to be erased", {
    hint: "Type the person's name, handle or id; of a store or an org its short name; of a conversation its id.",
  });
}

/** What a report that somebody kept says otherwise than the entry. */
function differences(report: Erasure, entry: Erasure): string[] {
  if (report.hash === null) {
    if (canonicalJson(report) === canonicalJson(entry)) return [];
    return [
      "the report that was shown was not sealed and says something else than the entry does now: keep the entry as it is shown today",
    ];
  }
  if (hashOf(report) !== report.hash) return ["the report that was shown was changed"];
  return report.hash === entry.hash
    ? []
    : ["the report that was shown is not the one that is stored"];
}
