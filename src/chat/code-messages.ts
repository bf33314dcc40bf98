import { isPrivate } from "../channels/event.ts";
import type { Tx } from "../db/tenant.ts";
import type { LinkCodes } from "../links/codes.ts";
import type { Placed } from "../turns/turn.ts";
import type { Person } from "../users/person.ts";
import type { ChannelMessage } from "./message.ts";
import type { ChannelUpdate } from "./update.ts";

/** Kept, and no part of what is learned or searched. */
export const SAID_NOTHING: Placed = { turnId: null, optedOut: true };

/** Messages that are a one-time code and say nothing else. */
export class CodeMessages {
  readonly #codes: LinkCodes;

  constructor(codes: LinkCodes) {
    this.#codes = codes;
  }

  /**
   * Links whoever sends a code, in private, to the person it was issued for.
   *
   * @returns who the sender is from now on; undefined where the message is no open code
   */
  async redeem(
    update: ChannelUpdate,
    message: ChannelMessage,
    person: Person,
    tx: Tx,
  ): Promise<Person | undefined> {
    const { direction, kind, forwarded, editedAt, text, conversationId, sender } = message;
    const { channel, account, receivedAt } = update;
    if (direction !== "inbound" || kind !== "text" || forwarded || editedAt) return undefined;
    if (!isPrivate({ channel, conversationId }, sender?.externalId)) return undefined;
    const said = { userId: person.userId, text, channel, account, receivedAt };
    const linked = await this.#codes.redeem(update, said, tx);
    return linked && { ...person, userId: linked.userId };
  }
}
