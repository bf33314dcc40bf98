import type { Principal } from "../access/principal.ts";
import type { Clock } from "../clock.ts";
import type { Transactions } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { CountedDay, PersonCounts, Waiting } from "./counts.ts";
import type { OverviewRepository } from "./repository.ts";

/** How far back growth is shown. */
const SHOWN_MS = 8 * 7 * 86_400_000;
/** A small org's count is renewed when somebody looks and it is older than this: nobody waits to see what was just kept. */
const FRESH_MS = 5000;

export interface OrgOverview {
  /** The last count; undefined where a large org was not counted yet. */
  readonly latest: CountedDay | undefined;
  /** Counted days of the last eight weeks, oldest first. */
  readonly days: readonly CountedDay[];
  readonly waiting: Waiting;
}

interface OverviewDependencies {
  readonly overview: OverviewRepository;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** How much is remembered, and what waits for somebody. */
export class OverviewService {
  readonly #deps: OverviewDependencies;

  constructor(deps: OverviewDependencies) {
    this.#deps = deps;
  }

  /**
   * Of the whole org. A small one is counted anew while somebody looks; a large one by the job alone.
   *
   * @throws AppError FORBIDDEN for a key with pins, which must not learn how much lies outside of them
   */
  org(by: Principal): Promise<OrgOverview> {
    if (Object.keys(by.pins).length > 0) {
      throw new AppError("FORBIDDEN", "this needs a key without pins");
    }
    const { overview, transactions, clock } = this.#deps;
    const now = clock();
    return transactions.tenant(by, async (tx) => {
      const since = new Date(now.getTime() - SHOWN_MS);
      let days = await overview.days(by, since, tx);
      const age = now.getTime() - (days.at(-1)?.countedAt.getTime() ?? 0);
      if (age > FRESH_MS && (await overview.isSmall(by, tx))) {
        const counts = await overview.count(by, now, tx);
        await overview.save(by, { countedAt: now, counts }, tx);
        days = await overview.days(by, since, tx);
      }
      return { days, latest: days.at(-1), waiting: await overview.waiting(by, now, tx) };
    });
  }

  /** Of the one person that a key is bound to. @throws AppError FORBIDDEN for any other key */
  person(by: Principal): Promise<PersonCounts> {
    const { userId } = by.pins;
    if (userId === undefined) throw new AppError("FORBIDDEN", "this key is of no one person");
    const { overview, transactions, clock } = this.#deps;
    return transactions.tenant(by, (tx) =>
      overview.person({ orgId: by.orgId, userId }, clock(), tx),
    );
  }
}
