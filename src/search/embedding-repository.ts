import { and, asc, desc, eq, inArray, ne, type SQL, sql } from "drizzle-orm";
import { chatMessages } from "../db/schema/chat.ts";
import { factTables } from "../db/schema/facts.ts";
import { embeddingModels, searchDocuments, searchScopes } from "../db/schema/search.ts";
import type { Tx } from "../db/tenant.ts";
import { SEARCHED_CHARACTERS } from "./analysis.ts";
import { BEFORE_CHARACTERS, type Before, withoutName } from "./embedded-text.ts";
import type { SearchScope } from "./scope.ts";

/** A scope as far as its vectors are concerned. */
type EmbeddedScope = Omit<SearchScope, "archived" | "length" | "contextLength" | "embedMessages">;

interface NewModel {
  readonly fingerprint: string;
  readonly vectorIndex: "postgres" | "upstash";
  readonly dimensions: number;
  readonly floor: number;
  readonly mergeThreshold: number;
}

interface UsedModel {
  readonly id: number;
  readonly dimensions: number;
  /** Another model was in use before: vectors of this one have yet to be made. */
  readonly isSwitch: boolean;
}

/** A document that has no vector of the model, with what it is made of. */
export type Unembedded = { readonly id: string; readonly textHash: string } & (
  | { readonly key: string; readonly value: unknown }
  | {
      readonly text: string;
      readonly before: Before | null;
    }
);

const scopeColumns = {
  id: searchScopes.id,
  orgId: searchScopes.orgId,
  kind: searchScopes.kind,
  storeId: searchScopes.storeId,
  userId: searchScopes.userId,
  agentId: searchScopes.agentId,
  documents: searchScopes.documents,
};

/** Archived facts are found by their words alone; messages have vectors only where a search missed them. */
function wantsVectors(): SQL {
  return sql`(not archived and (kind <> 'message' or embed_messages))`;
}

export class EmbeddingRepository {
  /** Notes the model whose vectors are made from now on; a new one, or one that comes back, has everything before it. */
  async use(model: NewModel, now: Date, tx: Tx): Promise<UsedModel> {
    let known = await this.#find(model, tx);
    if (!known) {
      // Only now: an insert that meets its row takes a number all the same, and a small integer has few for many starts.
      await tx
        .insert(embeddingModels)
        .values({ ...model, state: "building", createdAt: now })
        .onConflictDoNothing();
      known = await this.#find(model, tx);
    }
    if (!known) throw new Error("the model that was just noted is not there");
    const [other] = await tx
      .select({ id: embeddingModels.id })
      .from(embeddingModels)
      .where(and(ne(embeddingModels.id, known.id), ne(embeddingModels.state, "retired")))
      .limit(1);
    const { id, dimensions } = known;
    if (known.state === "active" && !other) return { id, dimensions, isSwitch: false };
    await tx
      .update(embeddingModels)
      .set({ state: "retired" })
      .where(ne(embeddingModels.id, known.id));
    await tx
      .update(embeddingModels)
      .set({ state: "building", floor: model.floor, mergeThreshold: model.mergeThreshold })
      .where(eq(embeddingModels.id, known.id));
    await tx.update(searchScopes).set({ embedDue: true }).where(wantsVectors());
    return { id, dimensions, isSwitch: other !== undefined || known.state === "retired" };
  }

  async #find({ fingerprint, vectorIndex }: NewModel, tx: Tx) {
    const [known] = await tx
      .select()
      .from(embeddingModels)
      .where(
        and(
          eq(embeddingModels.fingerprint, fingerprint),
          eq(embeddingModels.vectorIndex, vectorIndex),
        ),
      )
      .for("update");
    return known;
  }

  /** Whether no other model took its place, e.g. of a server that was started since with other settings. */
  async isInUse(modelId: number, tx: Tx): Promise<boolean> {
    const used = await tx
      .select({ id: embeddingModels.id })
      .from(embeddingModels)
      .where(and(eq(embeddingModels.id, modelId), ne(embeddingModels.state, "retired")));
    return used.length > 0;
  }

  /** Everything that wants a vector has one of this model. */
  async finish(modelId: number, tx: Tx): Promise<void> {
    await tx
      .update(embeddingModels)
      .set({ state: "active" })
      .where(and(eq(embeddingModels.id, modelId), ne(embeddingModels.state, "retired")));
  }

  /** Forgets a retired model of which no vectors are left: else they would be looked for again each time. */
  async remove(modelId: number, tx: Tx): Promise<void> {
    await tx
      .delete(embeddingModels)
      .where(and(eq(embeddingModels.id, modelId), eq(embeddingModels.state, "retired")));
  }

  async retired(tx: Tx): Promise<number[]> {
    const rows = await tx
      .select({ id: embeddingModels.id })
      .from(embeddingModels)
      .where(eq(embeddingModels.state, "retired"))
      .orderBy(asc(embeddingModels.id));
    return rows.map(({ id }) => id);
  }

  /** Scopes of every org with documents that wait, in the order of their ids. */
  due(after: number, limit: number, tx: Tx): Promise<EmbeddedScope[]> {
    return tx
      .select(scopeColumns)
      .from(searchScopes)
      .where(and(eq(searchScopes.embedDue, true), sql`${searchScopes.id} > ${after}`))
      .orderBy(asc(searchScopes.id))
      .limit(limit);
  }

  /** How many documents wait for a vector of the model in use, in every org; beyond 100,000 it does not count on. */
  async waiting(tx: Tx): Promise<number> {
    const [row] = await tx.execute<{ waiting: number }>(sql`
      select count(*)::int as waiting from (
        select 1 from search_scopes s join search_documents d on d.org_id = s.org_id and d.scope_id = s.id
        where s.embed_due and (d.model_id is null or d.model_id is distinct from (
          select id from embedding_models where state <> 'retired' order by id desc limit 1))
        limit 100000) waiting`);
    return row?.waiting ?? 0;
  }

  /** The newest documents of a scope without a vector of this model, and what their texts are made of. */
  async batch(scope: EmbeddedScope, modelId: number, limit: number, tx: Tx): Promise<Unembedded[]> {
    const missing = await tx
      .select({
        id: searchDocuments.id,
        textHash: searchDocuments.textHash,
        contextId: searchDocuments.contextId,
      })
      .from(searchDocuments)
      .where(
        and(
          eq(searchDocuments.orgId, scope.orgId),
          eq(searchDocuments.scopeId, scope.id),
          sql`${searchDocuments.modelId} is distinct from ${modelId}`,
        ),
      )
      .orderBy(desc(searchDocuments.id))
      .limit(limit);
    const ids = missing.map(({ id }) => id);
    if (ids.length === 0) return [];
    const sources =
      scope.kind === "message"
        ? await this.#messages(scope, missing, tx)
        : await this.#facts(scope, ids, tx);
    return missing.flatMap(({ id, textHash }) => {
      const source = sources.get(id);
      return source ? [{ id, textHash, ...source }] : [];
    });
  }

  async #facts({ orgId, kind }: EmbeddedScope, ids: readonly string[], tx: Tx) {
    if (kind === "message") return new Map<string, never>();
    const { table } = factTables[kind];
    const rows = await tx
      .select({ id: table.id, key: table.key, value: table.value })
      .from(table)
      .where(and(eq(table.orgId, orgId), inArray(table.id, [...ids])));
    return new Map(
      rows.map(({ id, key, value }) => [id, { key, value: JSON.parse(value) as unknown }]),
    );
  }

  async #messages(
    { orgId }: EmbeddedScope,
    documents: readonly { readonly id: string; readonly contextId: string | null }[],
    tx: Tx,
  ) {
    const ids = documents.flatMap(({ id, contextId }) =>
      contextId === null ? [id] : [id, contextId],
    );
    const rows = await tx
      .select({
        id: chatMessages.id,
        direction: chatMessages.direction,
        text: sql<string>`coalesce(left(${chatMessages.text}, ${SEARCHED_CHARACTERS}), '')`,
        end: sql<string>`coalesce(right(${chatMessages.text}, ${BEFORE_CHARACTERS}), '')`,
      })
      .from(chatMessages)
      .where(and(eq(chatMessages.orgId, orgId), inArray(chatMessages.id, ids)));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return new Map(
      documents.flatMap(({ id, contextId }) => {
        const row = byId.get(id);
        if (!row) return [];
        const { text } = row;
        const previous = byId.get(contextId ?? "");
        const before = previous
          ? { text: withoutName(previous.end), isAssistant: previous.direction === "outbound" }
          : null;
        return [[id, { text, before }] as const];
      }),
    );
  }

  /** Notes that these documents were embedded as they were read; of one that changed since nothing is noted. */
  async note(
    scope: EmbeddedScope,
    modelId: number,
    documents: readonly Pick<Unembedded, "id" | "textHash">[],
    tx: Tx,
  ): Promise<void> {
    const noted = documents.map(({ id, textHash }) => ({ id, textHash }));
    await tx.execute(sql`
      update search_documents d set model_id = ${modelId}
      from json_to_recordset(${JSON.stringify(noted)}::json) as s(id uuid, "textHash" text)
      where d.org_id = ${scope.orgId} and d.id = s.id and d.text_hash = s."textHash"`);
  }

  /** Marks a scope as done where nothing of it waits for the model in use. Writers of documents take the same row first. */
  async settle(scope: EmbeddedScope, modelId: number, tx: Tx): Promise<boolean> {
    const ofScope = and(eq(searchScopes.orgId, scope.orgId), eq(searchScopes.id, scope.id));
    // A statement of its own: the next one has to see what was committed while this one waited.
    await tx.select({ id: searchScopes.id }).from(searchScopes).where(ofScope).for("update");
    const settled = await tx
      .update(searchScopes)
      .set({ embedDue: false })
      .where(
        and(
          ofScope,
          sql`not exists (select from search_documents d where d.org_id = ${scope.orgId} and d.scope_id = ${scope.id}
            and d.model_id is distinct from ${modelId})`,
          sql`exists (select from embedding_models where id = ${modelId} and state <> 'retired')`,
        ),
      )
      .returning({ id: searchScopes.id });
    return settled.length > 0;
  }

  /** A search missed messages that have no vectors: from now on all of these scopes get them. @returns whether one did not */
  async wantMessages(
    { orgId }: { readonly orgId: string },
    scopeIds: readonly number[],
    tx: Tx,
  ): Promise<boolean> {
    if (scopeIds.length === 0) return false;
    const wanted = await tx
      .update(searchScopes)
      .set({ embedMessages: true, embedDue: true })
      .where(
        and(
          eq(searchScopes.orgId, orgId),
          inArray(searchScopes.id, [...scopeIds]),
          eq(searchScopes.embedMessages, false),
        ),
      )
      .returning({ id: searchScopes.id });
    return wanted.length > 0;
  }
}
