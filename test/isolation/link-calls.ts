import { AuditRepository } from "../../src/audit/repository.ts";
import { ChatMoveRepository } from "../../src/chat/move-repository.ts";
import { FactMoveRepository } from "../../src/facts/move-repository.ts";
import { KvMoveRepository } from "../../src/kv/move-repository.ts";
import { CodeRepository } from "../../src/links/code-repository.ts";
import { LinkRepository } from "../../src/links/repository.ts";
import { TurnMoveRepository } from "../../src/turns/move-repository.ts";
import { IdentityRepository } from "../../src/users/identity-repository.ts";
import type { Move } from "../../src/users/move.ts";
import { answers, type Calls, empty, nothing, refused, withoutOrg } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const audit = new AuditRepository();
const messages = new ChatMoveRepository();
const facts = new FactMoveRepository();
const entries = new KvMoveRepository();
const codes = new CodeRepository();
const links = new LinkRepository();
const turns = new TurnMoveRepository();
const identities = new IdentityRepository();

/** Two people of the other org, linked and undone by somebody else. */
const movesOf = (a: SeededOrg, { orgId }: { readonly orgId: string }): Move[] => {
  const { other, link } = a.channels;
  const move = { orgId, from: a.userId, to: other.id, linkId: link.id };
  const identityIds = [a.identity.id];
  return [
    { ...move, identityIds },
    { ...move, identityIds, everythingAs: a.identity.id },
    { ...move, identityIds: [], everythingAs: null },
  ];
};
const each = async (moves: readonly Move[], work: (move: Move) => Promise<unknown>) => {
  for (const move of moves) await work(move);
};

/** Of the repositories that link people, decide about them and keep the trail of both. */
export const LINK_CALLS: Readonly<Record<string, Calls>> = {
  AuditRepository: {
    insert: nothing((a, mine, tx) => {
      const subject = { subjectKind: "user", subjectId: a.userId };
      return audit.insert(mine, { at: NOON, actor: "x", action: "x", ...subject }, tx);
    }),
    last: nothing((a, mine, tx) => {
      const { subjectKind, subjectId, action } = a.channels.audit;
      return audit.last(mine, { subjectKind, subjectId, actions: [action] }, tx);
    }),
    list: empty((_, mine, tx) => audit.list(mine, { limit: 9 }, tx)),
  },
  CodeRepository: {
    insert: refused((a, mine, tx) => {
      const times = { createdAt: NOON, expiresAt: NOON };
      const code = { userId: a.userId, hash: mine.orgId, createdBy: "x", ...times };
      return codes.insert(mine, code, tx);
    }),
    countOpen: answers(0, (a, mine, tx) => codes.countOpen(mine, a.userId, NOON, tx)),
    findOpen: nothing((a, mine, tx) => codes.findOpen(mine, a.channels.code.hash, NOON, tx)),
    use: answers(false, (a, mine, tx) => codes.use(mine, a.channels.code.id, NOON, tx)),
    deleteExpired: withoutOrg(0, (_, __, tx) =>
      codes.deleteExpired(new Date("9999-01-01T00:00:00Z"), tx),
    ),
  },
  LinkRepository: {
    insert: refused((a, mine, tx) => {
      const { id: _, orgId: __, undoneAt: ___, undoneBy: ____, ...link } = a.channels.link;
      return links.insert(mine, { ...link, id: mine.orgId }, [a.identity.id], tx);
    }),
    find: nothing((a, mine, tx) => links.find(mine, a.channels.link.id, tx)),
    markUndone: answers(false, (a, mine, tx) =>
      links.markUndone(mine, a.channels.link.id, { at: NOON, by: "x" }, tx),
    ),
    list: empty((a, mine, tx) =>
      links.list(mine, { of: [a.userId], before: undefined, limit: 9 }, tx),
    ),
    below: empty((a, mine, tx) => links.below(mine, a.userId, tx)),
    everBelow: empty((a, mine, tx) => links.everBelow(mine, a.userId, tx)),
    homeOf: empty((a, mine, tx) =>
      links.homeOf(mine, [a.userId, a.channels.other.id], [a.identity.id], tx),
    ),
  },
  IdentityRepository: {
    people: empty((a, mine, tx) => identities.people(mine, [a.userId], tx)),
    linkedInto: empty((a, mine, tx) => identities.linkedInto(mine, [a.userId], tx)),
    of: empty((a, mine, tx) => identities.of(mine, [a.userId], tx)),
    move: nothing((a, mine, tx) => identities.move(mine, [a.identity.id], a.channels.other.id, tx)),
    point: nothing((a, mine, tx) => identities.point(mine, [a.userId], a.channels.other.id, tx)),
  },
  ChatMoveRepository: {
    move: nothing((a, mine, tx) => each(movesOf(a, mine), (move) => messages.move(move, tx))),
    leaveForeignTurns: nothing((a, mine, tx) =>
      each(movesOf(a, mine), (move) => messages.leaveForeignTurns(move, tx)),
    ),
    lastPlace: nothing((a, mine, tx) => messages.lastPlace(mine, a.userId, tx)),
    countLike: answers(0, (a, mine, tx) =>
      messages.countLike(mine, a.userId, { pattern: ".", since: new Date(0) }, tx),
    ),
  },
  KvMoveRepository: {
    move: nothing((a, mine, tx) => each(movesOf(a, mine), (move) => entries.move(move, tx))),
  },
  TurnMoveRepository: {
    move: nothing((a, mine, tx) => each(movesOf(a, mine), (move) => turns.move(move, NOON, tx))),
    skipOpen: nothing((a, mine, tx) =>
      turns.skipOpen(mine, a.userId, { reason: "x", at: NOON }, tx),
    ),
  },
  FactMoveRepository: {
    slots: empty(async (a, mine, tx) => {
      const found = [];
      for (const move of movesOf(a, mine)) found.push(...(await facts.slots(move, 9, tx)));
      return found;
    }),
    move: nothing((a, mine, tx) => each(movesOf(a, mine), (move) => facts.move(move, tx))),
  },
};
