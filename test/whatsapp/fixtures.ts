import type { ChannelMessage } from "../../src/chat/message.ts";
import { parseDelivery } from "../../src/whatsapp/delivery.ts";

/** 1 March 2026, 10:00 UTC, and a moment later, when the webhook got it. */
export const DATE = 1_772_359_200;
export const SENT = new Date(DATE * 1000);
export const RECEIVED = new Date((DATE + 3) * 1000);

export const PHONE = "106540352242922";
export const ANA_NUMBER = "16505550101";
export const ANA_ID = "US.13491208655302741918";

export const ana = {
  profile: { name: "Ana", username: "@ana.shops" },
  wa_id: ANA_NUMBER,
  user_id: ANA_ID,
};

let nextMessage = 1;
const wamid = () => `wamid.HBgLMTY1MDU1NTAxMDEVAgASGBQzQTAw${nextMessage++}AA==`;

/** A message of Ana, by number and id. */
export function message(fields: object = {}): Record<string, unknown> {
  return {
    from: ANA_NUMBER,
    from_user_id: ANA_ID,
    id: wamid(),
    timestamp: String(DATE),
    type: "text",
    text: { body: "hello" },
    ...fields,
  };
}

/** A delivery of one change, as Meta posts it. */
export function delivery(value: object, { field = "messages", phone = PHONE } = {}) {
  return { object: "whatsapp_business_account", entry: [entry(value, field, phone)] };
}

export function entry(value: object, field = "messages", phone = PHONE) {
  return {
    id: "102290129340398",
    changes: [
      {
        value: {
          messaging_product: "whatsapp",
          metadata: { display_phone_number: "15550783881", phone_number_id: phone },
          ...value,
        },
        field,
      },
    ],
  };
}

/** What a message of Ana does. */
export function actionsOf(fields: object) {
  const value = { contacts: [ana], messages: [message(fields)] };
  return parseDelivery(delivery(value), RECEIVED).flatMap(({ actions }) => actions);
}

/** The archived row of a message of Ana. */
export function archived(fields: object): ChannelMessage {
  const [first] = actionsOf(fields);
  if (first?.type !== "message" && first?.type !== "raw") throw new Error("nothing to archive");
  return first.message;
}
