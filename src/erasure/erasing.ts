import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { FactScope } from "../facts/row.ts";
import type { ScopeErasing } from "../facts/scope-erasing.ts";
import type { FactService } from "../facts/service.ts";
import type { SearchIndex } from "../search/service.ts";
import type { Identities } from "../users/identities.ts";
import { addPlaces, type Places, type Target } from "./erasure.ts";
import type { Entry } from "./ledger-repository.ts";
import type { OrgErasureRepository } from "./org-repository.ts";
import type { Said } from "./repository.ts";
import { type Step, Steps, type StepsDependencies } from "./steps.ts";

/** Messages erased in one transaction: some tenths of a second, so that others go on between two. */
const BATCH = 500;
/** Rows of an org deleted in one transaction. */
const ROWS = 2_000;

export interface ErasingDependencies extends StepsDependencies {
  readonly orgRows: OrgErasureRepository;
  readonly facts: FactService;
  readonly scopes: ScopeErasing;
  readonly identities: Identities;
  readonly index: SearchIndex;
}

/** Thrown where what was asked for is not what is there any more. */
export class Moved extends Error {
  override readonly name = "Moved";
}

/**
 * The first phase: deletes what an entry is of, in short transactions that each note what they did. One that is killed is
 * gone on with by whoever runs the entry next.
 */
export class Erasing {
  readonly #deps: ErasingDependencies;

  constructor(deps: ErasingDependencies) {
    this.#deps = deps;
  }

  /** @throws Moved for a person who became another one since; when the signal aborts */
  async run(entry: Entry, signal: AbortSignal): Promise<void> {
    const { target } = entry.work;
    if (!target) return;
    const steps = new Steps(this.#deps, entry, signal);
    switch (target.kind) {
      case "user":
        return this.#person(steps, target.userId);
      case "store":
        return this.#store(steps, target.storeId);
      case "org":
        return this.#org(steps);
      case "conversation":
        return this.#conversation(steps, target);
      case "reset":
        return this.#reset(steps, target);
    }
  }

  async #person(steps: Steps, userId: string): Promise<void> {
    const { rows, index } = this.#deps;
    const { org } = steps;
    const hold = async (tx: Tx) => {
      const held = await this.#held(org, userId, tx);
      if (held && held.people[0]?.id !== userId)
        throw new Moved("the person was linked into another one meanwhile");
      return held && { ...held, people: [userId, ...held.linked] };
    };
    let people: readonly string[] = [];
    await steps.begin(async (tx) => {
      const held = await hold(tx);
      if (!held) return {};
      people = held.people;
      const ids = [...people, ...held.identities.map(({ id }) => id)];
      const externalIds = held.identities.map(({ externalId }) => externalId);
      const said = { userIds: people };
      return { ids, externalIds, before: await this.#before(org, said, tx), said };
    });
    for (const id of people) await this.#facts(steps, { name: "user", ...org, userId: id });
    await this.#messages(steps, { userIds: people });
    let rest = true;
    while (rest) {
      // Whoever writes to them waits from here on, and finds nobody afterwards.
      await steps.once(async (tx) => {
        const held = await hold(tx);
        if (!held) {
          rest = false;
          return {};
        }
        const said = { userIds: held.people };
        await index.holdPeople(org, held.people, tx);
        rest = (await rows.countMessages(org, said, tx)) > BATCH;
        if (rest) return this.#someMessages(org, said, tx);
        const ids = [...held.people, ...held.identities.map(({ id }) => id)];
        await steps.note({ ids }, tx);
        const some = await this.#someMessages(org, said, tx);
        let deleted = some.deleted ?? {};
        for (const id of held.people)
          deleted = addPlaces(
            deleted,
            await this.#lastFacts({ name: "user", ...org, userId: id }, tx),
          );
        for (const [channel, of] of Map.groupBy(held.identities, (one) => one.channel)) {
          const externalIds = of.map(({ externalId }) => externalId);
          for (;;) {
            const nobody = await rows.messagesOfNobody(org, { channel, externalIds }, BATCH, tx);
            deleted = addPlaces(deleted, await this.#erase(org, nobody, tx));
            if (nobody.length < BATCH) break;
          }
        }
        deleted = addPlaces(deleted, await rows.deleteTurns(org, said, tx));
        deleted = addPlaces(deleted, await rows.deletePeople(org, held.people, tx));
        return { deleted, cleared: await rows.clearAudit(org, ids, tx) };
      });
      if (rest) await this.#messages(steps, { userIds: people });
    }
    // As they were noted: the person may be gone since a run before this one, and may have been linked with others meanwhile.
    const ids = await steps.ids();
    for (const id of ids) await this.#events(steps, { name: "user", ...org, userId: id });
    await steps.once(async (tx) => ({ cleared: await rows.clearAudit(org, ids, tx) }));
    await this.#orphans(steps);
  }

  /** @returns undefined for somebody who is gone: a run that was killed had come so far */
  async #held(org: { readonly orgId: string }, userId: string, tx: Tx) {
    try {
      return await this.#deps.identities.hold(org, [userId], tx);
    } catch (error) {
      if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  async #store(steps: Steps, storeId: string): Promise<void> {
    const { rows } = this.#deps;
    const { org } = steps;
    const said = { storeId };
    const scope = { name: "store", ...org, storeId } as const;
    await steps.begin(async (tx) => ({
      ids: [storeId],
      before: await this.#before(org, said, tx),
      said,
    }));
    await this.#facts(steps, scope);
    await this.#messages(steps, said);
    let rest = true;
    while (rest) {
      await steps.once(async (tx) => {
        if (!(await rows.holdStore(org, storeId, tx))) {
          rest = false;
          return {};
        }
        rest = (await rows.countMessages(org, said, tx)) > BATCH;
        const some = await this.#someMessages(org, said, tx);
        if (rest) return some;
        let deleted = addPlaces(some.deleted ?? {}, await this.#lastFacts(scope, tx));
        deleted = addPlaces(deleted, await rows.deleteTurns(org, said, tx));
        deleted = addPlaces(deleted, await rows.deleteStore(org, storeId, tx));
        return { deleted, cleared: await rows.clearAudit(org, [storeId], tx) };
      });
    }
    await this.#events(steps, scope);
    await this.#orphans(steps);
  }

  async #conversation(steps: Steps, target: Target & { kind: "conversation" }): Promise<void> {
    const { rows } = this.#deps;
    const { org } = steps;
    const { channel, account, conversationId } = target;
    const said = { channel, account, conversationId };
    await steps.begin(async (tx) => ({ ids: [], before: await this.#before(org, said, tx), said }));
    await this.#messages(steps, said);
    await steps.once(async (tx) => ({ deleted: await rows.deleteTurns(org, said, tx) }));
    await this.#orphans(steps);
  }

  async #org(steps: Steps): Promise<void> {
    const { orgRows, transactions } = this.#deps;
    const { org } = steps;
    const tables = await transactions.tenant(org, (tx) => orgRows.tables(tx));
    await steps.begin(async () => ({ ids: [org.orgId], before: {} }));
    for (const table of tables) {
      await steps.whileMore(async (tx) => {
        const count = await orgRows.deleteSome(org, table, ROWS, tx);
        return { deleted: { [table]: count }, more: count === ROWS };
      });
    }
    await steps.once(async (tx) => {
      if (!(await orgRows.hold(org, tx))) return {};
      // What came between the last look and the lock goes with the org.
      return { deleted: { orgs: await orgRows.delete(org, tx) } };
    });
  }

  async #reset(steps: Steps, { userId, storeId }: Target & { kind: "reset" }): Promise<void> {
    const { org } = steps;
    const scope: FactScope =
      userId !== undefined
        ? { name: "user", ...org, userId }
        : storeId !== undefined
          ? { name: "store", ...org, storeId }
          : { name: "org", ...org };
    await steps.begin(async () => ({ ids: [], before: {} }));
    await this.#facts(steps, scope, { actor: steps.entry.requestedBy });
    await steps.once(async (tx) => ({
      deleted: { fact_decisions: await this.#deps.scopes.decisions(scope, tx) },
    }));
    await this.#events(steps, scope);
    await this.#orphans(steps);
  }

  async #before(org: { readonly orgId: string }, said: Said, tx: Tx): Promise<Places> {
    return { chat_messages: await this.#deps.rows.countMessages(org, said, tx) };
  }

  #facts(steps: Steps, scope: FactScope, reset?: { readonly actor: string }): Promise<void> {
    return steps.whileMore(async (tx) => {
      const count = await this.#deps.scopes.facts(scope, reset, tx);
      return { deleted: { [`${scope.name}_facts`]: count ?? 0 }, more: count !== undefined };
    });
  }

  async #lastFacts(scope: FactScope, tx: Tx): Promise<Places> {
    const { scopes } = this.#deps;
    let facts = 0;
    for (;;) {
      const count = await scopes.facts(scope, undefined, tx);
      if (count === undefined) break;
      facts += count;
    }
    return { [`${scope.name}_facts`]: facts, fact_decisions: await scopes.decisions(scope, tx) };
  }

  #events(steps: Steps, scope: FactScope): Promise<void> {
    return steps.whileMore(async (tx) => {
      const count = await this.#deps.scopes.events(scope, tx);
      return { cleared: { memory_events: count }, more: count > 0 };
    });
  }

  #orphans(steps: Steps): Promise<void> {
    return steps.once(async (tx) => ({
      cleared: { memory_events: await this.#deps.scopes.orphanedEvents(steps.org, tx) },
    }));
  }

  #messages(steps: Steps, said: Said): Promise<void> {
    return steps.whileMore((tx) => this.#someMessages(steps.org, said, tx));
  }

  async #someMessages(org: { readonly orgId: string }, said: Said, tx: Tx): Promise<Step> {
    const doomed = await this.#deps.rows.messages(org, said, BATCH, tx);
    return { deleted: await this.#erase(org, doomed, tx), more: doomed.length === BATCH };
  }

  async #erase(
    org: { readonly orgId: string },
    doomed: readonly { readonly id: string; readonly userId: string | null }[],
    tx: Tx,
  ): Promise<Places> {
    const { rows, facts, index } = this.#deps;
    const ids = doomed.map(({ id }) => id);
    if (ids.length === 0) return {};
    const people = [...new Set(doomed.flatMap(({ userId }) => userId ?? []))];
    await index.holdPeople(org, people, tx);
    const sources = await rows.sourcesAmong(org, ids, tx);
    // Claims that other people's messages make too live on with those.
    const learned = await facts.eraseBySource(org, sources, tx);
    const calls = await rows.deleteCalls(org, ids, tx);
    const deleted = await rows.deleteMessages(org, ids, tx);
    await index.indexAfterDeletion(org, people, tx);
    return addPlaces(addPlaces(deleted, calls), { facts_from_messages: learned });
  }
}
