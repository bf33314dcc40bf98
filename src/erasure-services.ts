import type { AuditService } from "./audit/service.ts";
import type { Clock } from "./clock.ts";
import type { Database } from "./db/client.ts";
import { databaseSize, scrubDatabase, TableBusy } from "./db/scrub.ts";
import { Erasing } from "./erasure/erasing.ts";
import { eraseJob, scrubJob } from "./erasure/jobs.ts";
import { Ledger } from "./erasure/ledger.ts";
import { LedgerRepository } from "./erasure/ledger-repository.ts";
import { OrgErasureRepository } from "./erasure/org-repository.ts";
import { Progress } from "./erasure/progress.ts";
import { ErasureRepository } from "./erasure/repository.ts";
import { ScanRepository } from "./erasure/scan-repository.ts";
import { Scanning } from "./erasure/scanning.ts";
import { ErasureService } from "./erasure/service.ts";
import type { FactKeyRepository } from "./facts/key-repository.ts";
import type { FactRepository } from "./facts/repository.ts";
import { ScopeErasing } from "./facts/scope-erasing.ts";
import { FactScopeRepository } from "./facts/scope-repository.ts";
import type { FactService } from "./facts/service.ts";
import type { JobQueue } from "./jobs/queue.ts";
import type { OrgService } from "./orgs/service.ts";
import type { SearchIndex } from "./search/service.ts";
import { Identities } from "./users/identities.ts";
import { IdentityRepository } from "./users/identity-repository.ts";
import type { UserRepository } from "./users/repository.ts";
import type { UserService } from "./users/service.ts";

interface ErasureParts {
  readonly database: Database;
  readonly people: UserRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly facts: FactService;
  readonly factRows: FactRepository;
  readonly factKeys: FactKeyRepository;
  readonly index: SearchIndex;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly wake: () => void;
  readonly scrubCron: string;
}

/** The org's chain of erasures, for whatever is erased at once. */
export function buildLedger(clock: Clock): Ledger {
  return new Ledger(new LedgerRepository(), clock);
}

/** Erases, looks whether anything is left, and takes the bytes out of the database's files. */
export function buildErasures(parts: ErasureParts) {
  const { database, facts, index, queue, clock } = parts;
  const { transactions } = database;
  const entries = new LedgerRepository();
  const ledger = buildLedger(clock);
  const rows = new ErasureRepository();
  const scanning = new Scanning(new ScanRepository(), transactions, clock);
  const erasing = new Erasing({
    ...{ entries, rows, facts, index, transactions },
    orgRows: new OrgErasureRepository(),
    scopes: new ScopeErasing({
      scopes: new FactScopeRepository(),
      facts: parts.factRows,
      keys: parts.factKeys,
      clock,
    }),
    identities: new Identities(parts.people, new IdentityRepository()),
  });
  const progress = new Progress({
    ...{ entries, ledger, rows, erasing, scanning, queue, transactions, clock },
    scrubber: {
      size: () => databaseSize(database),
      scrub: () =>
        scrubDatabase(database).catch((error: unknown) => {
          if (error instanceof TableBusy) return undefined;
          throw error;
        }),
    },
  });
  const { users, orgs, audit, wake } = parts;
  return {
    erasures: new ErasureService({
      ...{ entries, ledger, rows, scanning, users, orgs, audit, queue, transactions, clock, wake },
    }),
    handlers: [eraseJob(progress), scrubJob(progress, parts.scrubCron, clock)],
  };
}
