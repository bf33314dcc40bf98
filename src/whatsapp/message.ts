import type { ChannelMessage, Payload } from "../chat/message.ts";
import { isRecord } from "../chat/payload.ts";
import type { ChannelAction } from "../chat/update.ts";
import { contentOf } from "./content.ts";
import { changeOf, conversationIdOf, platformMessageIdOf, speakerOf } from "./identity.ts";
import { type ContactShape, EditShape, type MessageShape, RevokeShape } from "./shapes.ts";

/** Where and when a message arrived. */
export interface Arrival {
  readonly phoneNumberId: string;
  readonly contacts: readonly ContactShape[];
  /** Said by the business on its own phone. */
  readonly echo: boolean;
  /** Stands in for a date that is missing. */
  readonly receivedAt: Date;
}

/**
 * What one message means to the archive; `payload` is the cleaned object of which `shape` is the checked part. Undefined
 * for an edit or a revocation that does not say of what.
 */
export function messageActions(
  payload: Payload,
  shape: MessageShape,
  arrival: Arrival,
): ChannelAction[] | undefined {
  switch (shape.type) {
    case "edit":
      return editActions(payload, shape, arrival);
    case "revoke":
      return revokeActions(payload, shape, arrival);
    case "system":
      return systemActions(payload, shape, arrival);
    default:
      return [{ type: "message", message: read(payload, shape, arrival), isEdit: false }];
  }
}

function read(payload: Payload, shape: MessageShape, arrival: Arrival): ChannelMessage {
  const { phoneNumberId, contacts } = arrival;
  const speaker = speakerOf(shape, contacts, arrival);
  const content = contentOf(payload, shape.type);
  return {
    ...speaker,
    kind: content.kind,
    text: content.text,
    sentAt: shape.timestamp ?? arrival.receivedAt,
    conversationId: conversationIdOf(phoneNumberId, shape, speaker.sender?.externalId),
    platformMessageId: platformMessageIdOf(phoneNumberId, shape.id),
    forwarded: isForwarded(payload.context),
    payload: { ...content.payload, phone_number_id: phoneNumberId },
  };
}

/** The new content under the message's own id. `edit_date` and `edit_id` take the places of the edit's date and id. */
function editActions(payload: Payload, shape: MessageShape, arrival: Arrival) {
  const edit = EditShape.safeParse(payload.edit);
  if (!edit.success) return undefined;
  const { original_message_id: id, message: content } = edit.data;
  const { edit: _, timestamp, id: editId, ...rest } = payload;
  const edited = { ...rest, ...content, id, edit_date: timestamp ?? null, edit_id: editId };
  const message = read(edited, { ...shape, ...{ id, type: content.type } }, arrival);
  const editedAt = shape.timestamp ?? arrival.receivedAt;
  return [{ type: "message", message: { ...message, editedAt }, isEdit: true } as const];
}

/** The revocation stays visible, what was revoked does not. */
function revokeActions(payload: Payload, shape: MessageShape, arrival: Arrival) {
  const revoke = RevokeShape.safeParse(payload.revoke);
  if (!revoke.success) return undefined;
  const message = read(payload, shape, arrival);
  const revoked = platformMessageIdOf(arrival.phoneNumberId, revoke.data.original_message_id);
  return [
    { type: "message", message, isEdit: false } as const,
    { type: "deleted", platformMessageIds: [revoked] } as const,
  ];
}

/** It is about whoever had the earlier id: with the new one it would make another person. */
function systemActions(payload: Payload, shape: MessageShape, arrival: Arrival) {
  const message = read(payload, shape, arrival);
  const change = changeOf(shape, payload.system);
  const [known] = change?.earlier ?? [];
  if (!change || known === undefined) return [{ type: "message", message, isEdit: false } as const];
  const conversationId = conversationIdOf(arrival.phoneNumberId, shape, known);
  const ofKnown = { ...message, conversationId, sender: { externalId: known } };
  return [
    { type: "message", message: ofKnown, isEdit: false } as const,
    { type: "renamed", ...change } as const,
  ];
}

function isForwarded(context: unknown): boolean {
  if (!isRecord(context)) return false;
  return context.forwarded === true || context.frequently_forwarded === true;
}
