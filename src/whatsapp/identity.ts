import type { Direction, Sender } from "../chat/message.ts";
import { type ContactShape, type MessageShape, SystemShape } from "./shapes.ts";

export interface Speaker {
  readonly direction: Direction;
  /** The person on the other side, also when our side speaks to them. */
  readonly sender?: Sender;
}

/** Who speaks to whom. `echo`: said by the business on its own phone. */
export function speakerOf(
  message: MessageShape,
  contacts: readonly ContactShape[],
  { echo }: { readonly echo: boolean },
): Speaker {
  const [number, id] = echo
    ? [message.to, message.to_user_id]
    : [message.from, message.from_user_id];
  const sender = senderOf({ number, id }, contacts);
  const direction = echo ? "outbound" : "inbound";
  return sender ? { direction, sender } : { direction };
}

interface Ids {
  readonly number?: string | undefined;
  readonly id?: string | undefined;
}

/**
 * The person behind a number, an id, or both: the id says who it is, because the number may be hidden or passed on. Ids that
 * the message leaves out come from its contact.
 */
function senderOf({ number, id }: Ids, contacts: readonly ContactShape[]): Sender | undefined {
  const contact = contactOf({ number, id }, contacts);
  const userId = id ?? contact?.user_id;
  const phoneNumber = number ?? contact?.wa_id;
  const externalId = userId ?? phoneNumber;
  if (externalId === undefined) return undefined;
  const { name, username } = contact?.profile ?? {};
  return {
    externalId,
    ...(userId !== undefined && phoneNumber !== undefined && { phoneNumber }),
    ...(username !== undefined && { username: username.replace(/^@/, "") }),
    ...(name !== undefined && { firstName: name }),
  };
}

/** A number and the id of a contact may differ though they mean one person, so a lone contact is the message's. */
function contactOf(
  { number, id }: Ids,
  contacts: readonly ContactShape[],
): ContactShape | undefined {
  const named = contacts.find(
    ({ wa_id, user_id }) =>
      (id !== undefined && user_id === id) || (number !== undefined && wa_id === number),
  );
  if (named || contacts.length !== 1) return named;
  const [only] = contacts;
  const isOther = id !== undefined && only?.user_id !== undefined && only.user_id !== id;
  return isOther ? undefined : only;
}

/**
 * The conversation in which an answer closes a turn; unique inside one account, ≤ 300 characters. As every channel does,
 * one with a single person begins with that person's id: nobody else reads it.
 */
export function conversationIdOf(
  phoneNumberId: string,
  message: MessageShape,
  externalId: string | undefined,
): string {
  return `${message.group_id ?? externalId ?? "unknown"}:${phoneNumberId}`;
}

/** One value for one message, kept by its redeliveries, edits and statuses; unique inside one account. */
export function platformMessageIdOf(phoneNumberId: string, messageId: string): string {
  return `${phoneNumberId}:${messageId}`;
}

const CHANGES = ["user_changed_number", "customer_changed_number", "user_changed_user_id"];

/**
 * What a system message says of a person's ids; undefined for one about something else. `earlier`: the ids they were
 * known by, surest first.
 */
export function changeOf(
  message: MessageShape,
  system: unknown,
): { readonly earlier: string[]; readonly ids: string[] } | undefined {
  const shape = SystemShape.safeParse(system);
  if (!shape.success || !CHANGES.includes(shape.data.type)) return undefined;
  const { previous_user_id, user_id, wa_id, new_wa_id } = shape.data;
  const ids = present(user_id, wa_id ?? new_wa_id);
  // The sender's id may be the old one or the new one; the number is always the old one.
  const earlier = present(previous_user_id, message.from, message.from_user_id);
  return { earlier: earlier.filter((id) => !ids.includes(id)), ids };
}

function present(...ids: readonly (string | undefined)[]): string[] {
  return ids.filter((id) => id !== undefined);
}
