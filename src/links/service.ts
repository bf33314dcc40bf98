import { v7 } from "uuid";
import { type Principal, requireAdmin } from "../access/principal.ts";
import type { AuditService } from "../audit/service.ts";
import type { Outbox } from "../channels/outbox.ts";
import type { Clock } from "../clock.ts";
import type { Transactions, Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import { pageOf } from "../page.ts";
import { type Identities, requireNotBlocked } from "../users/identities.ts";
import type { UserService } from "../users/service.ts";
import { isUuid } from "../uuid.ts";
import { type LinkProof, type LinkQuery, type LinkRecord, recordOf } from "./link.ts";
import type { Moving } from "./moving.ts";
import type { LinkRepository } from "./repository.ts";
import type { Vouching } from "./vouching.ts";

interface Scope {
  readonly orgId: string;
}

/** Two people who turned out to be one, by which proof and whose act. */
export interface NewLink {
  /** Whose identities go to the other one. */
  readonly from: string;
  /** Who they both are from then on. */
  readonly to: string;
  readonly proof: LinkProof;
  /** As an audit event has it. */
  readonly actor: string;
  readonly reason: string | null;
  /** The channel account whose runtime is told; default: where the person wrote last. */
  readonly place?: { readonly channel: string; readonly account: string };
}

export interface LinkDependencies {
  readonly links: LinkRepository;
  readonly identities: Identities;
  readonly moving: Moving;
  readonly vouching: Vouching;
  readonly users: UserService;
  readonly messages: {
    lastPlace(
      scope: Scope,
      userId: string,
      tx: Tx,
    ): Promise<{ readonly channel: string; readonly account: string } | undefined>;
  };
  readonly outbox: Outbox;
  readonly audit: AuditService;
  readonly transactions: Transactions;
  readonly clock: Clock;
}

/** Makes one person of several, by proof alone, and takes it back. */
export class LinkService {
  readonly #deps: LinkDependencies;

  constructor(deps: LinkDependencies) {
    this.#deps = deps;
  }

  /**
   * Gives every identity of a person, and all that came by them, to another one. Role and status are the other one's, but
   * that they are approved where either was. Owned by the caller's transaction.
   *
   * @returns the id of the link, and of the person that both are now
   * @throws AppError NOT_FOUND for foreign ids; CONFLICT for a person with themselves, and where one is blocked
   */
  async link(scope: Scope, link: NewLink, tx: Tx): Promise<{ linkId: string; userId: string }> {
    const { links, identities, moving, vouching, audit, clock } = this.#deps;
    const { orgId } = scope;
    const held = await identities.hold(scope, [link.from, link.to], tx);
    const current = await this.#current(scope, link, tx);
    const { from, to } = current;
    if (from === to) throw new AppError("CONFLICT", "they are one person already");
    requireNotBlocked(held.people);
    const moved = held.identities.filter(({ userId }) => userId === from).map(({ id }) => id);
    const linkId = v7();
    const { proof, actor, reason } = link;
    // Of its own: what came by nobody's identity here stays here when an earlier link into it is undone.
    const [own = moved[0] ?? null] = await links.homeOf(scope, [from], moved, tx);
    const row = { id: linkId, fromUserId: from, toUserId: to, proof, actor, reason };
    await links.insert(scope, { ...row, at: clock() }, moved, tx);
    const pointed = [from, ...(await links.below(scope, from, tx))];
    await identities.move(scope, { identityIds: moved, to, pointed }, tx);
    await moving.move({ orgId, from, to, identityIds: moved, everythingAs: own, linkId }, tx);
    const subject = { subjectKind: "user", subjectId: to } as const;
    const details = { linkId, proof, from };
    await audit.record(scope, { actor, action: "user.linked", ...subject, reason, details }, tx);
    const [one, other] = [from, to].map((id) => held.people.find((person) => person.id === id));
    if (one && other)
      await vouching.approve(scope, { from: one, to: other }, { actor, reason, linkId }, tx);
    await this.#tell(scope, { ...link, to }, linkId, tx);
    return { linkId, userId: to };
  }

  /** Lets the agent runtime know, behind what waits of both. */
  async #tell(scope: Scope, { to, place }: NewLink, linkId: string, tx: Tx): Promise<void> {
    const { messages, outbox, clock } = this.#deps;
    const told = place ?? (await messages.lastPlace(scope, to, tx));
    if (!told) return;
    const delivery = { ...told, userId: to, event: "identity.linked", messageId: linkId } as const;
    await outbox.enqueue(scope, delivery, clock(), tx);
  }

  /**
   * Makes one person of several: whoever has been known longest. Owned by the caller's transaction.
   *
   * @returns the person that all are now
   * @throws AppError as `link`
   */
  async unite(
    scope: Scope,
    userIds: readonly string[],
    act: Pick<NewLink, "proof" | "actor" | "reason">,
    tx: Tx,
  ): Promise<string> {
    const { people } = await this.#deps.identities.hold(scope, userIds, tx);
    requireNotBlocked(people);
    const [oldest, ...others] = people;
    if (!oldest) throw new Error("there is nobody");
    for (const { id } of others) await this.link(scope, { ...act, from: id, to: oldest.id }, tx);
    return oldest.id;
  }

  /** Who these two are once nobody can change it any more. */
  async #current(scope: Scope, { from, to }: NewLink, tx: Tx) {
    const { users } = this.#deps;
    const one = await users.find(scope, from, tx);
    const other = await users.find(scope, to, tx);
    return { from: one.userId, to: other.userId };
  }

  /**
   * An admin's act: the identities of `with` go to the person.
   *
   * @throws AppError as `link`; FORBIDDEN
   */
  linkByHand(
    by: Principal,
    userId: string,
    { with: other, reason }: { readonly with: string; readonly reason: string },
  ): Promise<LinkRecord> {
    requireAdmin(by);
    return this.#deps.transactions.tenant(by, async (tx) => {
      const { users } = this.#deps;
      const to = await users.find(by, userId, tx);
      const from = await users.find(by, other, tx);
      const act = { proof: "admin", actor: by.keyId, reason } as const;
      const { linkId } = await this.link(by, { from: from.userId, to: to.userId, ...act }, tx);
      return this.#find(by, linkId, tx);
    });
  }

  /**
   * Parts two people again: the identities that were the linked person's go back, with all that came by them before and
   * since. What was written meanwhile by no identity in particular stays.
   *
   * @throws AppError NOT_FOUND; CONFLICT for a link that was undone before; FORBIDDEN
   */
  undo(by: Principal, linkId: string, reason: string | null): Promise<LinkRecord> {
    requireAdmin(by);
    const { links, identities, moving, vouching, audit, transactions, clock } = this.#deps;
    const { orgId } = by;
    return transactions.tenant(by, async (tx) => {
      const known = await this.#find(by, linkId, tx);
      const home = known.fromUserId;
      // Held under the name of the one it was linked into: that is what others find it by.
      const held = await identities.hold(by, [known.toUserId], tx);
      const [owner] = held.people;
      if (!owner || !(await links.markUndone(by, linkId, { at: clock(), by: by.keyId }, tx)))
        throw new AppError("CONFLICT", "this link was undone before");
      const family = [home, ...(await links.below(by, home, tx))];
      const there = held.identities.map(({ id }) => id);
      const moved = await links.homeOf(by, family, there, tx);
      await identities.move(by, { identityIds: moved, to: home, pointed: family }, tx);
      const move = { orgId, from: owner.id, to: home, identityIds: moved, linkId };
      await moving.move(move, tx);
      const subject = { subjectKind: "user", subjectId: owner.id } as const;
      const event = { actor: by.keyId, action: "user.unlinked", ...subject, reason };
      await audit.record(by, { ...event, details: { linkId, from: home } }, tx);
      const act = { actor: by.keyId, reason, linkId };
      await vouching.keepBlocked(by, { from: owner, userId: home }, act, tx);
      await vouching.takeBack(by, [known.toUserId, owner.id], act, tx);
      return this.#find(by, linkId, tx);
    });
  }

  /** Links of an org or of one person, newest first. */
  list(
    by: Principal,
    { userId, before, limit }: LinkQuery,
  ): Promise<{ links: LinkRecord[]; nextBefore: string | null }> {
    requireAdmin(by);
    const { links, users, transactions } = this.#deps;
    return transactions.tenant(by, async (tx) => {
      const person = userId === undefined ? undefined : await users.find(by, userId, tx);
      const of = person && [person.userId, ...(await links.everBelow(by, person.userId, tx))];
      const rows = await links.list(by, { of, before, limit: limit + 1 }, tx);
      const { page, nextBefore } = pageOf(rows, limit);
      return { links: page.map(recordOf), nextBefore };
    });
  }

  async #find(scope: Scope, linkId: string, tx: Tx): Promise<LinkRecord> {
    const row = isUuid(linkId) && (await this.#deps.links.find(scope, linkId, tx));
    if (!row) throw new AppError("NOT_FOUND", "no link has this id");
    return recordOf(row);
  }
}
