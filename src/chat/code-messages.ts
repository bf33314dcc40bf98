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
    const { direction, forwarded, text } = message;
    if (direction !== "inbound" || forwarded || !isAlone(update, message)) return undefined;
    const said = { userId: person.userId, text, receivedAt: update.receivedAt };
    const linked = await this.#codes.redeem(update, said, tx);
    return linked && { ...person, userId: linked.userId };
  }
}

/**
 * Whether nobody else reads along. Channels call a conversation with a single person by that person's id: alone, before a
 * topic, or behind the account that it is with. In doubt others do.
 */
function isAlone({ channel }: ChannelUpdate, { conversationId, sender }: ChannelMessage): boolean {
  const id = sender?.externalId;
  if (id === undefined) return false;
  if (conversationId === id || conversationId.startsWith(`${id}:`)) return true;
  const isBehindAccount = channel === "whatsapp" || conversationId.startsWith("business:");
  return isBehindAccount && conversationId.endsWith(`:${id}`);
}
