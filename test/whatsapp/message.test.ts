import { describe, expect, test } from "vitest";
import { parseDelivery } from "../../src/whatsapp/delivery.ts";
import {
  ANA_ID,
  ANA_NUMBER,
  actionsOf,
  archived,
  DATE,
  delivery,
  message,
  PHONE,
  RECEIVED,
  SENT,
} from "./fixtures.ts";

const file = {
  id: "2754859441498128",
  mime_type: "x/y",
  sha256: "h",
  url: "https://secret.example",
};

test("a text is the person's, dated by WhatsApp, under the number it came to", () => {
  const row = archived({ id: "wamid.1", text: { body: "I am vegetarian" } });
  expect(row).toEqual({
    direction: "inbound",
    kind: "text",
    text: "I am vegetarian",
    sentAt: SENT,
    conversationId: `${ANA_ID}:${PHONE}`,
    platformMessageId: `${PHONE}:wamid.1`,
    sender: {
      externalId: ANA_ID,
      phoneNumber: ANA_NUMBER,
      username: "ana.shops",
      firstName: "Ana",
    },
    forwarded: false,
    payload: {
      from: ANA_NUMBER,
      from_user_id: ANA_ID,
      id: "wamid.1",
      timestamp: String(DATE),
      type: "text",
      text: { body: "I am vegetarian" },
      phone_number_id: PHONE,
    },
  });
});

test.each([
  ["image", { image: { ...file, caption: "my cat" } }, "photo", "my cat"],
  ["image", { image: file }, "photo", null],
  ["video", { video: { ...file, caption: "my dog" } }, "video", "my dog"],
  ["audio", { audio: { ...file, voice: false } }, "audio", null],
  ["audio", { audio: { ...file, voice: true } }, "voice", null],
  ["voice", { voice: file }, "voice", null],
  ["document", { document: { ...file, filename: "a.pdf", caption: "bill" } }, "document", "bill"],
  ["sticker", { sticker: { ...file, animated: false } }, "sticker", null],
  ["location", { location: { latitude: 48.85, longitude: 2.35, name: "here" } }, "location", null],
  ["contacts", { contacts: [{ name: { formatted_name: "Ben" } }] }, "contact", null],
  [
    "interactive",
    { interactive: { type: "button_reply", button_reply: { id: "yes", title: "Yes, please" } } },
    "callback",
    "Yes, please",
  ],
  [
    "interactive",
    {
      interactive: { type: "list_reply", list_reply: { id: "2", title: "Tea", description: "g" } },
    },
    "callback",
    "Tea",
  ],
  [
    "interactive",
    { interactive: { type: "nfm_reply", nfm_reply: { response_json: "{}", body: "Sent" } } },
    "callback",
    "Sent",
  ],
  ["button", { button: { text: "Track it", payload: "TRACK" } }, "callback", "Track it"],
  ["reaction", { reaction: { message_id: "wamid.9", emoji: "👍" } }, "reaction", null],
  [
    "order",
    { order: { catalog_id: "c", text: "two please", product_items: [] } },
    "text",
    "two please",
  ],
  ["order", { order: { catalog_id: "c", product_items: [] } }, "service", null],
  ["request_welcome", {}, "service", null],
  ["system", { system: { type: "user_identity_changed", body: "x" } }, "service", null],
  ["unsupported", { errors: [{ code: 131_051 }] }, "unsupported", null],
  ["hologram", { hologram: { body: "of next year" } }, "unsupported", null],
])("a message of the type %s (%j) is kept as %s", (type, content, kind, text) => {
  const row = archived({ text: undefined, type, ...content });
  expect([row.kind, row.text]).toEqual([kind, text]);
  expect(row.sender?.externalId).toBe(ANA_ID);
  expect(JSON.stringify(row.payload)).not.toContain("secret.example");
});

test("files stay by their ids, without the address that whoever has the token could open", () => {
  expect(archived({ type: "image", image: file }).payload.image).toEqual({
    ...file,
    url: "[removed]",
  });
});

test.each([
  [{ forwarded: true }, true],
  [{ frequently_forwarded: true }, true],
  [{ from: "15550783881", id: "wamid.9" }, false],
  [{ forwarded: "yes" }, false],
  ["forwarded", false],
])("with the context %j a message is forwarded: %s", (context, forwarded) => {
  expect(archived({ context }).forwarded).toBe(forwarded);
});

test("of what a message replies to only the ids stay", () => {
  const context = {
    from: "15550783881",
    id: "wamid.9",
    body: "other people's words",
    quoted: { text: "other people's words" },
    referred_product: { catalog_id: "c", product_retailer_id: "p", title: "other people's words" },
  };
  expect(archived({ context }).payload.context).toEqual({
    from: "15550783881",
    id: "wamid.9",
    referred_product: { catalog_id: "c", product_retailer_id: "p" },
  });
});

describe("an edit", () => {
  const edit = (content: object) => ({
    id: "wamid.edit",
    timestamp: String(DATE + 60),
    type: "edit",
    text: undefined,
    edit: { original_message_id: "wamid.1", message: content },
  });

  test("carries the new content under the message's own id", () => {
    const content = { context: { id: "M0" }, type: "image", image: { ...file, caption: "new" } };
    expect(actionsOf(edit(content))).toMatchObject([
      {
        type: "message",
        isEdit: true,
        message: {
          kind: "photo",
          text: "new",
          editedAt: new Date((DATE + 60) * 1000),
          platformMessageId: `${PHONE}:wamid.1`,
          conversationId: `${ANA_ID}:${PHONE}`,
          sender: { externalId: ANA_ID },
          payload: { id: "wamid.1", image: { url: "[removed]" } },
        },
      },
    ]);
  });

  test.each([
    { edit: {} },
    { edit: "x" },
    { edit: { original_message_id: "wamid.1" } },
    { edit: { original_message_id: "", message: { type: "text" } } },
    { edit: { original_message_id: "wamid.1", message: { text: { body: "x" } } } },
  ])("that does not say of what or to what is kept raw: %j", (broken) => {
    const actions = actionsOf({ ...edit({}), ...broken });
    expect(actions).toMatchObject([{ type: "raw", reason: "malformed" }]);
  });
});

test("a revocation stays visible and erases what it revokes", () => {
  const fields = { type: "revoke", text: undefined, revoke: { original_message_id: "wamid.1" } };
  expect(actionsOf({ id: "wamid.2", ...fields })).toMatchObject([
    { type: "message", message: { kind: "service", platformMessageId: `${PHONE}:wamid.2` } },
    { type: "deleted", platformMessageIds: [`${PHONE}:wamid.1`] },
  ]);
  expect(actionsOf({ type: "revoke", revoke: null })).toMatchObject([{ type: "raw" }]);
});

describe("what the business says on its own phone", () => {
  const echo = (fields: object) => {
    const said = message({ from: "15550783881", from_user_id: undefined, ...fields });
    const value = { message_echoes: [said] };
    return parseDelivery(delivery(value, { field: "smb_message_echoes" }), RECEIVED);
  };

  test("is outbound, to the person and in the conversation that it answers", () => {
    const [item] = echo({ to: ANA_NUMBER, to_user_id: ANA_ID, text: { body: "it is on its way" } });
    expect(item?.actions).toMatchObject([
      {
        message: {
          direction: "outbound",
          text: "it is on its way",
          sender: { externalId: ANA_ID, phoneNumber: ANA_NUMBER },
          conversationId: `${ANA_ID}:${PHONE}`,
        },
      },
    ]);
  });

  test("to nobody that is named is nobody's, never the business's own", () => {
    const [item] = echo({});
    expect(item?.actions).toMatchObject([{ message: { direction: "outbound" } }]);
    expect(item?.actions[0]).not.toHaveProperty("message.sender");
  });
});

test("dates that are missing or cannot be true become the time of receipt", () => {
  for (const timestamp of [undefined, "0", "", "soon", "99999999999", 1.5, {}, "-5"]) {
    expect(archived({ timestamp }).sentAt).toEqual(RECEIVED);
  }
  expect(archived({ timestamp: DATE }).sentAt).toEqual(SENT);
});
