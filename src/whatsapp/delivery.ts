import type { ChannelMessage, DeliveryStatus, Payload } from "../chat/message.ts";
import { storable } from "../chat/message.ts";
import { digestOf, isRecord } from "../chat/payload.ts";
import type { ChannelAction } from "../chat/update.ts";
import { wholeSecond } from "../clock.ts";
import { platformMessageIdOf } from "./identity.ts";
import { type Arrival, messageActions } from "./message.ts";
import { cleanDelivery } from "./payload.ts";
import {
  ContactShape,
  MessageShape,
  StatusShape,
  UserIdUpdateShape,
  ValueShape,
} from "./shapes.ts";

/** One message, status or event out of a delivery. */
export interface ParsedItem {
  /** One value for all deliveries of it, unique inside one account, however the platform puts them together. */
  readonly dedupeKey: string;
  readonly actions: readonly ChannelAction[];
}

const STATUSES: ReadonlyMap<string, DeliveryStatus> = new Map([
  ["sent", "sent"],
  ["failed", "failed"],
  ["delivered", "delivered"],
  ["read", "read"],
  // A voice message that was listened to.
  ["played", "read"],
]);

/** Of a change's value, the lists that are understood. */
type List = "messages" | "message_echoes" | "statuses" | "user_id_update";
const LISTS: readonly List[] = ["messages", "message_echoes", "statuses", "user_id_update"];

/**
 * What a delivery means to the archive, item by item. Pure; accepts any JSON value and never throws. What cannot be read
 * becomes one `raw` action, so that it can be seen.
 */
export function parseDelivery(raw: unknown, receivedAt: Date): ParsedItem[] {
  const at = wholeSecond(receivedAt);
  const body = cleanDelivery(raw);
  if (!isRecord(body)) return [rawItem({ value: body }, "unreadable", at)];
  const changes = listOf(body.entry).flatMap((entry) =>
    isRecord(entry) ? listOf(entry.changes) : [],
  );
  if (changes.length === 0) return [rawItem(body, "unreadable", at)];
  return changes.flatMap((change) => changeItems(isRecord(change) ? change : { change }, at));
}

/** A body that is no JSON. */
export function unreadableDelivery(
  body: { readonly text: string; readonly bytes: number },
  receivedAt: Date,
): ParsedItem[] {
  const payload = { body: storable(body.text), bytes: body.bytes };
  return [rawItem(payload, "unreadable", wholeSecond(receivedAt))];
}

function changeItems(change: Payload, at: Date): ParsedItem[] {
  const value = isRecord(change.value) ? change.value : {};
  const shape = ValueShape.safeParse(value);
  const lists = LISTS.filter((list) => Array.isArray(value[list]));
  if (!shape.success || lists.length === 0) return [rawItem(change, "unknown", at)];
  const { phone_number_id: phoneNumberId } = shape.data.metadata;
  const contacts = listOf(value.contacts).flatMap((contact) => {
    const parsed = ContactShape.safeParse(contact);
    return parsed.success ? [parsed.data] : [];
  });
  return lists.flatMap((list) => {
    const arrival = { phoneNumberId, contacts, echo: list === "message_echoes", receivedAt: at };
    return listOf(value[list]).map((item): ParsedItem => {
      const payload: Payload = isRecord(item) ? item : { value: item };
      const actions = READERS[list](payload, arrival);
      if (!actions) return rawItem({ ...payload, phone_number_id: phoneNumberId }, "malformed", at);
      return { dedupeKey: keyOf(list, phoneNumberId, payload), actions };
    });
  });
}

const READERS: Readonly<
  Record<List, (item: Payload, arrival: Arrival) => readonly ChannelAction[] | undefined>
> = {
  messages: readMessage,
  message_echoes: readMessage,
  statuses(item, { phoneNumberId }) {
    const shape = StatusShape.safeParse(item);
    if (!shape.success) return undefined;
    const status = STATUSES.get(shape.data.status);
    const platformMessageId = platformMessageIdOf(phoneNumberId, shape.data.id);
    return status ? [{ type: "status", platformMessageId, status }] : [];
  },
  user_id_update(item) {
    const shape = UserIdUpdateShape.safeParse(item);
    if (!shape.success) return undefined;
    const { wa_id, user_id } = shape.data;
    const ids = wa_id === undefined ? [user_id.current] : [user_id.current, wa_id];
    return [{ type: "renamed", earlier: [user_id.previous], ids }];
  },
};

function readMessage(item: Payload, arrival: Arrival): readonly ChannelAction[] | undefined {
  const shape = MessageShape.safeParse(item);
  return shape.success ? messageActions(item, shape.data, arrival) : undefined;
}

/** The id alone is not enough: what could not be delivered whole at first may come again under it. */
function keyOf(list: string, phoneNumberId: string, item: Payload): string {
  return `${list}:${phoneNumberId}:${digestOf(item)}`;
}

function rawItem(payload: Payload, reason: string, at: Date): ParsedItem {
  const digest = digestOf(payload);
  const message: ChannelMessage = {
    direction: "inbound",
    kind: "unsupported",
    text: null,
    sentAt: at,
    conversationId: "unread",
    platformMessageId: `raw:${digest}`,
    forwarded: false,
    payload,
  };
  return { dedupeKey: `raw:${digest}`, actions: [{ type: "raw", reason, message }] };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
