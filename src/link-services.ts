import type { AuditService } from "./audit/service.ts";
import type { Outbox } from "./channels/outbox.ts";
import { CodeMessages } from "./chat/code-messages.ts";
import { ChatMoveRepository } from "./chat/move-repository.ts";
import type { ChatRepository } from "./chat/repository.ts";
import type { Clock } from "./clock.ts";
import type { Transactions } from "./db/tenant.ts";
import type { Consolidation } from "./facts/consolidation.ts";
import type { FactKeyRepository } from "./facts/key-repository.ts";
import { FactMoveRepository } from "./facts/move-repository.ts";
import { FactMoving } from "./facts/moving.ts";
import type { JobQueue } from "./jobs/queue.ts";
import { KvMoveRepository } from "./kv/move-repository.ts";
import { LinkAssertions } from "./links/assertions.ts";
import { CodeRepository } from "./links/code-repository.ts";
import { LinkCodes } from "./links/codes.ts";
import { forgetCodesJob } from "./links/jobs.ts";
import { Moving } from "./links/moving.ts";
import { LinkRepository } from "./links/repository.ts";
import { LinkService } from "./links/service.ts";
import { Vouching } from "./links/vouching.ts";
import type { OrgService } from "./orgs/service.ts";
import { SearchMoving } from "./search/moving.ts";
import type { SearchIndex } from "./search/service.ts";
import { TurnMoveRepository } from "./turns/move-repository.ts";
import { Approval } from "./users/approval.ts";
import { Identities } from "./users/identities.ts";
import { IdentityRepository } from "./users/identity-repository.ts";
import type { UserRepository } from "./users/repository.ts";
import type { UserService } from "./users/service.ts";

interface LinkParts {
  readonly people: UserRepository;
  readonly users: UserService;
  readonly orgs: OrgService;
  readonly audit: AuditService;
  readonly archive: ChatRepository;
  readonly keys: FactKeyRepository;
  readonly consolidation: Consolidation;
  readonly index: SearchIndex;
  readonly queue: JobQueue;
  readonly outbox: Outbox;
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly defaultOrg: string;
}

/** Who is who and who may: links between people, approval, and the trail of both. */
export function buildLinks(parts: LinkParts) {
  const { people, users, orgs, audit, archive, keys, consolidation, index, queue, outbox } = parts;
  const { transactions, clock, defaultOrg } = parts;
  const identities = new Identities(people, new IdentityRepository());
  const messages = new ChatMoveRepository();
  const turns = new TurnMoveRepository();
  const journal = new LinkRepository();
  const links = new LinkService({
    links: journal,
    identities,
    vouching: new Vouching({ links: journal, identities, audit, clock }),
    moving: new Moving({
      turns,
      messages,
      entries: new KvMoveRepository(),
      facts: new FactMoving({ moves: new FactMoveRepository(), keys, consolidation, queue, clock }),
      index: new SearchMoving(index, queue, clock),
      outbox,
      clock,
    }),
    users,
    messages,
    outbox,
    audit,
    transactions,
    clock,
  });
  const codeRows = new CodeRepository();
  const codes = new LinkCodes({
    codes: codeRows,
    links,
    users,
    audit,
    messages,
    transactions,
    clock,
  });
  const approval = new Approval({
    people,
    users,
    audit,
    async onBlocked(scope, userId, at, tx) {
      await turns.skipOpen(scope, userId, { reason: "not-approved", at }, tx);
      await outbox.drop(scope, userId, tx);
    },
    transactions,
    clock,
  });
  const assertions = new LinkAssertions({
    links,
    users,
    orgs,
    noteDelivery: (scope, updateId, tx) => {
      const delivery = { channel: "links", account: "", updateId, receivedAt: clock() };
      return archive.noteUpdate(scope, delivery, tx);
    },
    transactions,
    defaultOrg,
  });
  return {
    links,
    codes,
    approval,
    assertions,
    codeMessages: new CodeMessages(codes),
    handlers: [forgetCodesJob(codeRows, transactions, clock)],
  };
}
