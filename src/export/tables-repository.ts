import {
  and,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  like,
  not,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { apiKeys } from "../db/schema/access.ts";
import { auditEvents } from "../db/schema/audit.ts";
import { channelAccounts, chatMessageRevisions, chatMessages } from "../db/schema/chat.ts";
import { memoryCounts } from "../db/schema/counts.ts";
import { erasures } from "../db/schema/erasure.ts";
import {
  factDecisions,
  memoryEvents,
  orgFacts,
  storeFacts,
  userFacts,
} from "../db/schema/facts.ts";
import { memoryKv } from "../db/schema/kv.ts";
import { identityLinkMoves, identityLinks } from "../db/schema/links.ts";
import { orgs, stores } from "../db/schema/orgs.ts";
import { ruleVersions } from "../db/schema/rules.ts";
import { extractionUsage, turns } from "../db/schema/turns.ts";
import { channelIdentities, users } from "../db/schema/users.ts";
import { type AnySection, fieldsOf } from "./rows.ts";
import { type ExportScope, idOf } from "./scope.ts";

/** Stands for no identity where rows are put in order. */
export const NOBODY = "00000000-0000-0000-0000-000000000000";

/** Where a section's rows are, and which of them an export of a scope holds. */
export interface SectionTable {
  readonly table: PgTable;
  /** What says whose rows they are: the table's column of the org. */
  readonly tenant: PgColumn;
  /** Fields that the rows are read by, a page at a time; unique together. */
  readonly key: readonly string[];
  /** The same for one person, whose rows have an index of their own. */
  readonly keyOfPerson?: readonly string[];
  /** Undefined: everything of the org. Asked of no scope that does not have the section. */
  readonly of: (scope: ExportScope) => SQL | undefined;
  /** Read one after the other. */
  readonly parts?: readonly SQL[];
}

const section = (
  table: PgTable & { readonly orgId: PgColumn },
  of: SectionTable["of"],
  key: readonly string[] = ["id"],
  more: Partial<SectionTable> = {},
): SectionTable => ({ table, tenant: table.orgId, key, of, ...more });

/** Rows that name their person and store. */
const owned =
  (table: { readonly userId?: PgColumn; readonly storeId?: PgColumn }): SectionTable["of"] =>
  (scope) => {
    switch (scope.name) {
      case "org":
        return undefined;
      case "store":
        if (!table.storeId) throw foreign();
        return eq(table.storeId, scope.storeId);
      case "user":
        if (!table.userId) throw foreign();
        return inArray(table.userId, [...scope.userIds]);
    }
  };

/** Without a condition the rows of the whole org would be read. */
function foreign(): Error {
  return new Error("this scope has no such section");
}

const ofOrg = owned({});

/** People, identities or stores that the messages and turns of a scope refer to. */
function mentioned(column: PgColumn, named: SQL, scope: ExportScope): SQL {
  const { orgId } = scope;
  const whose =
    scope.name === "store"
      ? sql`store_id = ${scope.storeId}`
      : sql`user_id in ${[...(scope.name === "user" ? scope.userIds : [])]}`;
  const inTurns =
    column === channelIdentities.id
      ? sql``
      : sql`union select ${named} from turns where org_id = ${orgId} and ${whose}`;
  return sql`${column} in (select ${named} from chat_messages where org_id = ${orgId} and ${whose} ${inTurns})`;
}

function people(scope: ExportScope): SQL | undefined {
  if (scope.name === "store") return mentioned(users.id, sql`user_id`, scope);
  return scope.name === "user" ? inArray(users.id, [...scope.userIds]) : undefined;
}

/** Both ends: a link that was undone tells of somebody else too. */
function betweenThem(scope: ExportScope): SQL | undefined {
  if (scope.name === "org") return undefined;
  if (scope.name === "store") throw foreign();
  const ids = [...scope.userIds];
  return and(inArray(identityLinks.fromUserId, ids), inArray(identityLinks.toUserId, ids));
}

function ofMessages(scope: ExportScope): SQL | undefined {
  const condition = owned(chatMessages)(scope);
  if (!condition) return undefined;
  const { orgId } = scope;
  return sql`exists (select 1 from chat_messages where ${eq(chatMessages.orgId, orgId)}
    and ${chatMessages.id} = ${chatMessageRevisions.messageId} and ${condition})`;
}

/** Facts whose source is a message of the person, or a revision of one (`<id>#…`). */
const fromMessages =
  (table: typeof orgFacts | typeof storeFacts): SectionTable["of"] =>
  (scope) => {
    if (scope.name !== "user") throw foreign();
    const { orgId } = scope;
    return sql`exists (select 1 from chat_messages where ${eq(chatMessages.orgId, orgId)}
      and ${inArray(chatMessages.userId, [...scope.userIds])}
      and ${chatMessages.id} = case when ${table.sourceMessageId} ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(#|$)'
        then left(${table.sourceMessageId}, 36)::uuid end)`;
  };

/** Of the server rather than of the memory: listed, or an org that was restored could not be told to be the same. */
const OF_SERVER = or(
  inArray(auditEvents.subjectKind, ["org", "key", "job", "import"]),
  like(auditEvents.action, "%.exported"),
);

function told(scope: ExportScope): SQL | undefined {
  if (scope.name === "org") return undefined;
  const { orgId } = scope;
  const itself = and(
    eq(auditEvents.subjectKind, scope.name),
    inArray(auditEvents.subjectId, scope.name === "user" ? [...scope.userIds] : [idOf(scope)]),
  );
  if (scope.name === "store") return itself;
  const link = sql`(${auditEvents.subjectKind} = 'link' and ${auditEvents.subjectId} in (
    select id::text from identity_links where ${eq(identityLinks.orgId, orgId)} and ${betweenThem(scope)}))`;
  return or(itself, link);
}

export const TABLES: Readonly<Record<AnySection, SectionTable>> = {
  settings: { table: orgs, tenant: orgs.id, key: [], of: ofOrg },
  stores: section(stores, (scope) => {
    if (scope.name === "store") return eq(stores.id, scope.storeId);
    return scope.name === "user" ? mentioned(stores.id, sql`store_id`, scope) : undefined;
  }),
  users: section(users, people, ["id"], {
    parts: [isNull(users.linkedInto), isNotNull(users.linkedInto)],
  }),
  identities: section(channelIdentities, (scope) =>
    scope.name === "store"
      ? mentioned(channelIdentities.id, sql`identity_id`, scope)
      : owned({ userId: channelIdentities.userId })(scope),
  ),
  links: section(identityLinks, betweenThem),
  linkMoves: section(
    identityLinkMoves,
    (scope) => {
      const among = betweenThem(scope);
      if (!among) return among;
      const { orgId } = scope;
      return sql`${identityLinkMoves.linkId} in (
        select id from identity_links where ${eq(identityLinks.orgId, orgId)} and ${among})
        and ${identityLinkMoves.identityId} in (select id from channel_identities
          where ${eq(channelIdentities.orgId, orgId)} and ${owned({ userId: channelIdentities.userId })(scope)})`;
    },
    ["linkId", "identityId"],
  ),
  entries: section(memoryKv, owned({ userId: memoryKv.userId }), ["userId", "key", "identityId"]),
  channelAccounts: section(channelAccounts, owned({ storeId: channelAccounts.storeId })),
  rules: section(ruleVersions, owned({ storeId: ruleVersions.storeId })),
  messages: section(chatMessages, owned(chatMessages), ["id"], { keyOfPerson: ["sentAt", "id"] }),
  revisions: section(chatMessageRevisions, ofMessages, ["messageId", "revision"]),
  turns: section(turns, owned(turns), ["id"], { keyOfPerson: ["openedAt", "id"] }),
  decisions: section(factDecisions, owned(factDecisions)),
  orgFacts: section(orgFacts, ofOrg),
  storeFacts: section(storeFacts, owned({ storeId: storeFacts.storeId })),
  userFacts: section(userFacts, owned({ userId: userFacts.userId }), ["id"], {
    keyOfPerson: ["observedAt", "id"],
  }),
  events: section(
    memoryEvents,
    (scope) => and(owned(memoryEvents)(scope), sql`${memoryEvents.kind} <> 'exported'`),
    ["at", "id"],
  ),
  audit: section(auditEvents, (scope) => and(told(scope), OF_SERVER && not(OF_SERVER)), [
    "at",
    "id",
  ]),
  usage: section(extractionUsage, ofOrg, ["day"]),
  counts: section(memoryCounts, ofOrg, ["day"]),
  keys: section(apiKeys, (scope) =>
    owned({ userId: apiKeys.pinnedUserId, storeId: apiKeys.pinnedStoreId })(scope),
  ),
  operations: section(auditEvents, (scope) => and(told(scope), OF_SERVER), ["at", "id"]),
  erasures: section(
    erasures,
    (scope) => (scope.name === "org" ? undefined : eq(erasures.subjectId, idOf(scope))),
    ["position"],
  ),
  orgFactsFromMessages: section(orgFacts, fromMessages(orgFacts)),
  storeFactsFromMessages: section(storeFacts, fromMessages(storeFacts)),
};

/** The columns of a section's fields. */
export function columnsOf(name: AnySection): Record<string, PgColumn> {
  const columns: Record<string, PgColumn> = getTableColumns(TABLES[name].table);
  return Object.fromEntries(
    fieldsOf(name).map((field) => {
      const column = columns[field];
      if (!column) throw new Error(`${name} has no ${field}`);
      return [field, column];
    }),
  );
}

/** What rows are put in order by: bytes rather than a locale's letters, which databases do not share. */
export function sortedBy(name: AnySection, field: string): SQL {
  const column = columnsOf(name)[field];
  if (field === "identityId") return sql`coalesce(${column}, ${NOBODY}::uuid)`;
  return field === "key" ? sql`${column} collate "C"` : sql`${column}`;
}
