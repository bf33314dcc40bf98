import type { Principal } from "../access/principal.ts";
import type { SendingAccount } from "../channels/account.ts";
import type { ChannelService } from "../channels/service.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { UserService } from "../users/service.ts";
import type { Sender } from "./sender.ts";
import type { SendingRepository } from "./sending-repository.ts";

/** Whom a message goes to, where, and through what. */
export interface Recipient {
  readonly userId: string;
  readonly identityId: string;
  readonly externalId: string;
  /** Whether they were known to take no messages there. */
  readonly wasUnreachable: boolean;
  readonly account: SendingAccount;
  readonly sender: Sender;
  readonly conversationId: string;
}

export interface RecipientDependencies {
  readonly sending: SendingRepository;
  readonly users: UserService;
  readonly channels: ChannelService;
  /** By channel. */
  readonly senders: Readonly<Record<string, Sender>>;
}

/**
 * Finds where a message to a person goes: the conversation that was asked for, in which that person has to have written;
 * else the one with nobody but them, of the identity that wrote last, through the account that it wrote to.
 *
 * @throws AppError NOT_FOUND for people and conversations that are not known, or not of the org; CONFLICT where nothing
 * can be sent
 */
export async function findRecipient(
  { sending, users, channels, senders }: RecipientDependencies,
  principal: Principal,
  to: { readonly userId: string; readonly conversationId?: string | undefined },
  tx: Tx,
): Promise<Recipient> {
  const { storeId } = principal.pins;
  const person = await users.findNamed(principal, to.userId, tx);
  const { status } = (await users.standing(principal, person.userId, tx)) ?? {};
  if (status === "blocked")
    throw new AppError("CONFLICT", "this person is blocked: nothing is sent to them");
  const accounts = (await channels.sending(principal, tx))
    .filter(({ channel }) => channel in senders)
    .filter((one) => !storeId || one.storeId === null || one.storeId === storeId);
  const said = await sending.lastPlace(principal, person, accounts, to.conversationId, tx);
  if (!said && to.conversationId !== undefined) {
    throw new AppError("NOT_FOUND", "this person has written nothing in this conversationId", {
      hint: "Leave it out to write to the person alone.",
    });
  }
  const identities = (await users.identities(principal, person.userId, tx))
    .filter(({ id }) => person.identityId === null || id === person.identityId)
    .filter(({ channel }) => channel in senders);
  const identity = identities.find(({ id }) => id === said?.identityId) ?? identities.at(-1);
  if (!identity) {
    throw new AppError("CONFLICT", "nothing can be sent on this person's channels", {
      hint: `Messages can be sent on: ${Object.keys(senders).join(", ")}.`,
    });
  }
  const possible = accounts.filter(({ channel, account }) =>
    said ? channel === said.channel && account === said.account : channel === identity.channel,
  );
  const [account] = possible;
  const sender = account && senders[account.channel];
  if (!sender || possible.length > 1) {
    throw new AppError("CONFLICT", "this person has written to none of the accounts that can send");
  }
  const conversationId = to.conversationId ?? sender.directConversation(identity.externalId);
  if (conversationId === undefined || !sender.canSendTo(conversationId))
    throw new AppError("CONFLICT", "nothing can be sent to this conversation");
  const { id: identityId, externalId, unreachableAt } = identity;
  const { userId } = person;
  const wasUnreachable = unreachableAt !== null;
  return { userId, identityId, externalId, wasUnreachable, account, sender, conversationId };
}
