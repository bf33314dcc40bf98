import { sql } from "drizzle-orm";
import { v7 } from "uuid";
import type { Principal } from "../../src/access/principal.ts";
import { AuditRepository } from "../../src/audit/repository.ts";
import { AuditService } from "../../src/audit/service.ts";
import type { ChannelMessage } from "../../src/chat/message.ts";
import { MessageRepository } from "../../src/chat/message-repository.ts";
import { PlatformMessageRepository } from "../../src/chat/platform-repository.ts";
import { ChatRepository } from "../../src/chat/repository.ts";
import { Senders } from "../../src/chat/senders.ts";
import { ChatService } from "../../src/chat/service.ts";
import type { ChannelAction } from "../../src/chat/update.ts";
import { Database } from "../../src/db/client.ts";
import { Ledger } from "../../src/erasure/ledger.ts";
import { LedgerRepository } from "../../src/erasure/ledger-repository.ts";
import { Consolidation } from "../../src/facts/consolidation.ts";
import { FactKeyRepository } from "../../src/facts/key-repository.ts";
import { ListingRepository } from "../../src/facts/listing-repository.ts";
import { Remember } from "../../src/facts/remember.ts";
import { FactRepository } from "../../src/facts/repository.ts";
import { FactReview } from "../../src/facts/review.ts";
import type { FactScope } from "../../src/facts/row.ts";
import { FactService } from "../../src/facts/service.ts";
import { IdempotencyRepository } from "../../src/idempotency/repository.ts";
import { IdempotencyService } from "../../src/idempotency/service.ts";
import { JobQueue } from "../../src/jobs/queue.ts";
import { OrgRepository } from "../../src/orgs/repository.ts";
import { OrgService } from "../../src/orgs/service.ts";
import { indexJob } from "../../src/search/jobs.ts";
import { MatchRepository } from "../../src/search/match-repository.ts";
import { SearchMessageRepository } from "../../src/search/message-repository.ts";
import { SearchRepository } from "../../src/search/repository.ts";
import { SearchIndex } from "../../src/search/service.ts";
import { TurnAssignment } from "../../src/turns/assignment.ts";
import { TurnRepository } from "../../src/turns/repository.ts";
import { ContextRepository } from "../../src/users/context.ts";
import { UserRepository } from "../../src/users/repository.ts";
import { UserService } from "../../src/users/service.ts";
import { TestClock } from "../support/clock.ts";
import { createDatabase, type Engine } from "../support/database.ts";

const PERSON = "5000000001";

/** A database of a test file's own, in which every test gets orgs of its own. */
export async function openIndex(engine: Engine) {
  const created = await createDatabase(engine);
  const database = await Database.open({
    url: created.env.DATABASE_URL,
    dataDir: created.env.DATA_DIR ?? "",
  });
  return {
    fresh: () => tenantOf(database),
    async close() {
      await database.close();
      await created.dispose();
    },
  };
}

export type IndexUnderTest = Awaited<ReturnType<typeof tenantOf>>;

async function tenantOf({ transactions }: Database) {
  const clock = new TestClock();
  const audit = new AuditService(new AuditRepository(), transactions, clock.now);
  const orgs = new OrgService(new OrgRepository(), audit, transactions, clock.now);
  const contexts = new ContextRepository();
  const users = new UserService(new UserRepository(), contexts, "telegram", clock.now);
  const messages = new SearchMessageRepository();
  const index = new SearchIndex({
    documents: new SearchRepository(),
    messages,
    matches: new MatchRepository(),
  });
  const shared = { users, orgs, index, transactions, clock: clock.now, orchestrator: "atlas" };
  const idempotency = new IdempotencyService(new IdempotencyRepository(), clock.now);
  const factParts = { facts: new FactRepository(), keys: new FactKeyRepository() };
  const consolidation = new Consolidation({ ...shared, ...factParts });
  const archive = new ChatRepository();
  const facts = new FactService({
    ...shared,
    ...factParts,
    consolidation,
    conversations: archive,
    erasures: new Ledger(new LedgerRepository(), clock.now),
    idempotency,
  });
  const review = new FactReview({
    ...shared,
    ...factParts,
    consolidation,
    lists: new ListingRepository(),
  });
  const turns = new TurnAssignment({
    ...shared,
    turns: new TurnRepository(),
    queue: new JobQueue(),
  });
  const chat = new ChatService({
    ...shared,
    chat: archive,
    platform: new PlatformMessageRepository(),
    senders: new Senders(users, { unite: async (_org, [userId = ""]) => userId }),
    facts,
    turns,
    idempotency,
    codes: { redeem: async () => undefined },
    messages: new MessageRepository(),
    outbox: { enqueue: async () => {} },
    wake: () => {},
  });
  const job = indexJob(index, messages, transactions);
  const runJob = () =>
    job.run(
      { id: v7(), kind: "search.index", orgId: null, payload: "{}", attempts: 1 },
      { signal: new AbortController().signal },
    );
  const principal = async (): Promise<Principal> => {
    const org = await transactions.system("operator", (tx) => orgs.ensure(`org-${v7()}`, tx));
    return { orgId: org.id, keyId: "key-1", role: "owner", defaultAgent: "atlas", pins: {} };
  };
  const owner = await principal();
  const stranger = await principal();
  const scopesOf = async (by: Principal): Promise<FactScope[]> => {
    const person = await transactions.tenant(by, (tx) =>
      users.find(by, PERSON, tx).catch(() => undefined),
    );
    const org: FactScope = { name: "org", orgId: by.orgId };
    return person ? [{ name: "user", orgId: by.orgId, userId: person.userId }, org] : [org];
  };
  return {
    clock,
    index,
    facts,
    review,
    chat,
    consolidation,
    transactions,
    owner,
    stranger,
    remember: (input: Readonly<Record<string, unknown>>, by: Principal = owner) => {
      const whose = "scope" in input ? {} : { scope: "user", userId: PERSON };
      return facts.remember(by, Remember.parse({ ...whose, ...input }));
    },
    /** Archives a person's message with the answer. */
    say: (userMessage: string, assistantMessage: string, by: Principal = owner) =>
      chat.archiveTurn(by, { userId: PERSON, channel: "web", userMessage, assistantMessage }),
    /** A channel's webhook delivers what one person wrote, or what was written to them. */
    deliver: (action: ChannelAction, by: Principal = owner) =>
      chat.archive({
        channel: "telegram",
        account: "main",
        orgId: by.orgId,
        dedupeKey: v7(),
        receivedAt: clock.now(),
        autoApprove: true,
        actions: [action],
      }),
    message: (id: string, text: string | null, more: Partial<ChannelMessage> = {}) =>
      ({
        type: "message",
        isEdit: more.editedAt !== undefined,
        message: {
          direction: "inbound",
          kind: "text",
          text,
          sentAt: clock.now(),
          conversationId: "c1",
          platformMessageId: id,
          sender: { externalId: PERSON },
          forwarded: false,
          payload: { text },
          ...more,
        },
      }) satisfies ChannelAction,
    scopesOf,
    /** The whole index of an org as it stands, without the ids of scopes. */
    async dump(by: Principal = owner) {
      return transactions.tenant(by, async (tx) => {
        const scope = "s.kind, s.store_id, s.user_id, s.agent_id, s.archived";
        const read = async (text: string) => [...(await tx.execute(sql.raw(text)))];
        // Totals as a search has them: counted anew where something was deleted since they were written.
        const totals = {
          documents: "count(*)",
          length: "sum(length)",
          context_length: "sum(context_length)",
        };
        const counted = Object.entries(totals).map(
          ([name, count]) => `case when s.recount_due
            then (select coalesce(${count}, 0) from search_documents where scope_id = s.id)
            else s.${name} end::int as ${name}`,
        );
        const scopes = await read(
          `select ${scope}, ${counted.join(", ")} from search_scopes s order by ${scope}`,
        );
        return {
          scopes: scopes.filter(({ documents }) => documents !== 0),
          documents:
            await read(`select d.id, ${scope}, d.context_id, d.length, d.context_length, d.tokens, d.text_hash,
            d.words_hash from search_documents d join search_scopes s on s.id = d.scope_id order by d.id`),
          words:
            await read(`select p.document_id, p.term, ${scope}, p.frequency, p.context_frequency, p.length,
            p.context_length from search_postings p join search_scopes s on s.id = p.scope_id
            order by p.document_id, p.term`),
          due: await read("select id from chat_messages where search_due"),
        };
      });
    },
    /** The index as it comes out when it is made anew of what is stored. */
    async rebuild(by: Principal = owner) {
      await transactions.tenant(by, async (tx) => {
        await tx.execute("delete from search_documents");
        await tx.execute("update chat_messages set search_due = true");
        for (const table of ["org_facts", "user_facts"]) {
          await tx.execute(`update ${table} set consolidated_at = null`);
        }
      });
      await consolidation.run();
      await runJob();
    },
    /** The ids of what a query finds of one person and the org, best first, live facts and messages apart. */
    async find(query: string, by: Principal = owner) {
      const scopes = await scopesOf(by);
      return transactions.tenant(by, async (tx) => {
        const found = await index.scopes(scopes, ["atlas"], tx);
        const live = found.facts.filter(({ archived }) => !archived);
        const archived = found.facts.filter((scope) => scope.archived);
        const ids = async (some: typeof live) =>
          (await index.match(some, query, 50, tx)).hits.map(({ documentId }) => documentId);
        return {
          facts: await ids(live),
          archived: await ids(archived),
          messages: await ids([...found.messages]),
        };
      });
    },
    runJob,
    query: <T extends Record<string, unknown>>(text: string, by: Principal = owner) =>
      transactions.tenant(by, (tx) => tx.execute<T>(text)),
  };
}
