import { describe, expect, test } from "vitest";
import {
  ana,
  archived,
  channel,
  DATE,
  group,
  inGroup,
  message,
  photo,
  RECEIVED,
  SENT,
  update,
} from "./fixtures.ts";

const file = { file_id: "F", file_unique_id: "u", file_size: 10 };
const spot = { latitude: 48.85, longitude: 2.35 };

test("a private text is kept with who said it, when, and the whole platform message", () => {
  const text = message({ text: "I only drink green tea" });
  expect(archived({ message: text })).toEqual({
    direction: "inbound",
    kind: "text",
    text: "I only drink green tea",
    sentAt: SENT,
    conversationId: "5000000001",
    platformMessageId: "5000000001:30",
    sender: { externalId: "5000000001", username: "ana_shops", firstName: "Ana" },
    forwarded: false,
    payload: text,
  });
});

describe("every kind of content is recognised", () => {
  test.each([
    ["photo", { photo, caption: "look", caption_entities: [], show_caption_above_media: true }],
    ["video", { video: file, caption: "look", media_group_id: "135" }],
    ["voice", { voice: { ...file, duration: 3 } }],
    ["audio", { audio: file, caption: "look" }],
    ["document", { document: file, caption: "look" }],
    ["sticker", { sticker: { ...file, type: "regular", emoji: "🍵" } }],
    ["video_note", { video_note: { ...file, length: 240 } }],
    ["location", { location: spot }],
    ["contact", { contact: { phone_number: "+33100000000", first_name: "Ben" } }],
    ["poll", { poll: { id: "p", question: "Which tea?", options: [] } }],
    ["dice", { dice: { emoji: "🎲", value: 4 } }],
    ["story", { story: { id: 7, chat: { id: ana.id, type: "private" } } }],
    ["game", { game: { title: "Brew", description: "", photo: [] } }],
    ["paid_media", { paid_media: { star_count: 5, paid_media: [] }, caption: "look" }],
    ["checklist", { checklist: { title: "Shopping", tasks: [{ id: 1, text: "tea" }] } }],
    ["text", { text: "hi", effect_id: "5104841245755180586" }],
  ])("%s", (kind, content) => {
    const row = archived({ message: message(content) });
    expect(row.kind).toBe(kind);
    expect(row.text).toBe("caption" in content ? "look" : "text" in content ? "hi" : null);
    expect(row.payload).toMatchObject(content);
  });

  test("what carries a second content key for old clients is named by the newer one", () => {
    expect(archived({ message: message({ animation: file, document: file }) }).kind).toBe(
      "animation",
    );
    expect(archived({ message: message({ live_photo: file, photo }) }).kind).toBe("live_photo");
    const venue = { location: spot, title: "Tea house", address: "Rue 1" };
    expect(archived({ message: message({ venue, location: spot }) }).kind).toBe("venue");
  });

  test("a message with no content at all is kept as unsupported", () => {
    expect(archived({ message: message() })).toMatchObject({ kind: "unsupported", text: null });
  });

  test("a rich message is kept as its words", () => {
    const blocks = [{ type: "paragraph", text: ["I like ", { type: "bold", text: "oolong" }] }];
    expect(archived({ message: message({ rich_message: { blocks } }) })).toMatchObject({
      kind: "rich",
      text: "I like oolong",
    });
  });
});

test.each([
  ["successful_payment", { currency: "EUR", total_amount: 1200, invoice_payload: "order-7" }],
  ["web_app_data", { data: "{}", button_text: "Order" }],
  ["gift", { gift: { id: "g" }, text: "for you" }],
  ["unique_gift", { gift: { base_name: "Cup" }, origin: "upgrade" }],
  ["suggested_post_approved", { send_date: DATE }],
  ["users_shared", { request_id: 1, users: [{ user_id: 7 }] }],
  ["chat_shared", { request_id: 2, chat_id: -100 }],
  ["new_chat_members", [ana]],
  ["forum_topic_created", { name: "Oolong", icon_color: 7_322_096 }],
])("%s is a service message without text", (key, value) => {
  expect(archived({ message: inGroup({ [key]: value }) })).toMatchObject({
    kind: "service",
    text: null,
    payload: { [key]: value },
  });
});

test("an edit keeps the message's id and date and says when it was edited", () => {
  const first = archived({ message: message({ text: "helo" }) });
  const edited = update({ edited_message: message({ text: "hello", edit_date: DATE + 60 }) });
  expect(edited.actions).toMatchObject([
    {
      type: "message",
      isEdit: true,
      message: {
        text: "hello",
        sentAt: SENT,
        editedAt: new Date((DATE + 60) * 1000),
        platformMessageId: first.platformMessageId,
      },
    },
  ]);
  expect(first).not.toHaveProperty("editedAt");
});

test("an edit without its date was edited by the time it was received", () => {
  expect(archived({ edited_message: message({ text: "x" }) }).editedAt).toEqual(RECEIVED);
});

test.each([0, 1, -5, 1e15, "soon", null])("date %s becomes the time of receipt", (date) => {
  expect(archived({ message: message({ text: "x", date }) }).sentAt).toEqual(RECEIVED);
});

test.each([
  ["a user", { forward_origin: { type: "user", date: 1, sender_user: ana } }],
  ["a hidden user", { forward_origin: { type: "hidden_user", date: 1, sender_user_name: "B" } }],
  ["a channel", { forward_origin: { type: "channel", date: 1, chat: channel, message_id: 3 } }],
  ["a user, as old API servers say", { forward_from: ana }],
  ["a hidden user, as old API servers say", { forward_sender_name: "B", forward_date: DATE }],
])("words forwarded from %s are not the sender's own", (_origin, fields) => {
  const row = archived({ message: message({ video: file, caption: "I am vegan", ...fields }) });
  expect(row).toMatchObject({ forwarded: true, text: "I am vegan", payload: fields });
  expect(row.sender?.externalId).toBe("5000000001");
});

test("each picture of an album is its own row, tied by the album's id", () => {
  const album = { photo, media_group_id: "13579" };
  const first = archived({ message: message({ ...album, caption: "two cups" }) }, 1);
  const second = archived({ message: message({ ...album, message_id: 31 }) }, 2);
  expect([first.text, second.text]).toEqual(["two cups", null]);
  expect(first.platformMessageId).not.toBe(second.platformMessageId);
  expect([first, second].map((row) => row.payload.media_group_id)).toEqual(["13579", "13579"]);
});

test.each([
  ["👩‍👩‍👧‍👦 שלום \u202Eabc", "👩‍👩‍👧‍👦 שלום \u202Eabc"],
  ["a\0b", "a\uFFFDb"],
  ["tea \uD83D", "tea \uFFFD"],
  ["", ""],
  ["é".repeat(4096), "é".repeat(4096)],
])("text %# comes out as it can be stored", (text, stored) => {
  const row = archived({ message: message({ text }) });
  expect(row.text).toBe(stored);
  expect(row.payload.text).toBe(stored);
});

test("a text, a caption and a rich message far beyond Telegram's longest are kept whole", () => {
  const text = `${"茶".repeat(200_000)}😀 and more`;
  const rich_message = { blocks: [{ type: "paragraph", text }] };
  for (const content of [{ text }, { photo, caption: text }, { rich_message }]) {
    const row = archived({ message: message(content) });
    expect(row.text).toBe(text);
    expect(row.payload).toMatchObject(content);
  }
});

test("a group that becomes a supergroup is told once from each side, and its new ids are no duplicates", () => {
  const old = { id: -4_518_810_793, type: "group", title: "Tea lovers" };
  const moved = {
    type: "migrated",
    fromConversationId: `${old.id}`,
    toConversationId: `${group.id}`,
  };
  const before = update({
    message: inGroup({ chat: old, message_id: 1, migrate_to_chat_id: group.id }),
  });
  const after = update({ message: inGroup({ message_id: 1, migrate_from_chat_id: old.id }) });
  expect(before.actions).toMatchObject([{ message: { kind: "service" } }, moved]);
  expect(after.actions).toMatchObject([{ message: { kind: "service" } }, moved]);
  const ids = [before, after].map(({ actions: [first] }) =>
    first?.type === "message" ? first.message.platformMessageId : "",
  );
  expect(new Set(ids).size).toBe(2);
});
