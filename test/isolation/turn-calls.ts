import { TurnRepository } from "../../src/turns/repository.ts";
import { answers, type Calls, empty, FAR_FUTURE, nothing, refused } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const turns = new TurnRepository();

const placeOf = ({ turn }: SeededOrg) => ({
  channel: turn.channel,
  account: turn.account,
  conversationId: turn.conversationId,
});

/** Of the repository of turns. */
export const TURN_CALLS: Readonly<Record<string, Calls>> = {
  TurnRepository: {
    insert: refused((a, mine, tx) =>
      turns.insert(
        mine,
        {
          ...placeOf(a),
          userId: a.userId,
          agentId: "x",
          state: "open",
          openedAt: NOON,
          lastMessageAt: NOON,
          arm: "on",
        },
        tx,
      ),
    ),
    lock: nothing((a, mine, tx) => turns.lock(mine, a.turn.id, tx)),
    lockAll: nothing((a, mine, tx) => turns.lockAll(mine, [a.turn.id], tx)),
    lockDead: empty((_, mine, tx) => turns.lockDead(mine, 9, tx)),
    lockOpen: empty((a, mine, tx) => turns.lockOpen(mine, placeOf(a), undefined, tx)),
    lockNewest: nothing((a, mine, tx) => turns.lockNewest(mine, placeOf(a), a.userId, tx)),
    update: nothing((a, mine, tx) => turns.update(mine, a.turn.id, { reason: "planted" }, tx)),
    list: empty(async (a, mine, tx) => {
      const before = { openedAt: FAR_FUTURE, id: a.turn.id };
      return [
        ...(await turns.list(mine, { state: a.turn.state, before: undefined, limit: 9 }, tx)),
        ...(await turns.list(mine, { state: a.turn.state, before, limit: 9 }, tx)),
      ];
    }),
    corrections: empty((_, mine, tx) => turns.corrections(mine, 9, tx)),
    arms: answers({ since: new Date(0), arms: {} }, (_, mine, tx) =>
      turns.arms(mine, { since: new Date(0), limit: 9 }, tx),
    ),
    // A row of its own org, whatever the other one has used up.
    reserve: answers(true, (a, mine, tx) => turns.reserve(mine, a.day, 1, tx)),
    addUsage: nothing((a, mine, tx) =>
      turns.addUsage(mine, a.day, { turns: 1, inputTokens: 1, outputTokens: 1 }, tx),
    ),
    usage: empty((_, mine, tx) => turns.usage(mine, 9, tx)),
  },
};
