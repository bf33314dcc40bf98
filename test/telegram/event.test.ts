import { describe, expect, test } from "vitest";
import {
  ana,
  anaChat,
  archived,
  ben,
  channel,
  DATE,
  group,
  message,
  owner,
  RECEIVED,
  SENT,
  shopBot,
  update,
} from "./fixtures.ts";

const thumb = { type: "emoji", emoji: "👍" };
const callback = { id: "c1", from: ana, chat_instance: "8812", data: "ok" };

describe("reactions", () => {
  const reaction = {
    chat: anaChat,
    message_id: 1,
    date: DATE,
    old_reaction: [],
    new_reaction: [thumb],
  };

  test("a person's reaction is theirs, with its date", () => {
    expect(archived({ message_reaction: { ...reaction, user: ana } })).toMatchObject({
      kind: "reaction",
      text: null,
      sentAt: SENT,
      conversationId: "5000000001",
      sender: { externalId: "5000000001" },
      payload: { message_id: 1, new_reaction: [thumb] },
    });
  });

  test("a channel's reaction and a count of reactions are nobody's", () => {
    const inChannel = { ...reaction, chat: channel };
    for (const event of [
      { message_reaction: { ...inChannel, actor_chat: group } },
      { message_reaction_count: { chat: channel, message_id: 1, date: DATE, reactions: [] } },
    ]) {
      const row = archived(event);
      expect(row.kind).toBe("reaction");
      expect(row).not.toHaveProperty("sender");
    }
  });

  test("a reaction taken back in the same second is a second event", () => {
    const ids = [1, 2].map((id) => archived({ message_reaction: { ...reaction, user: ana } }, id));
    expect(new Set(ids.map((row) => row.platformMessageId)).size).toBe(2);
  });
});

describe("pressed buttons", () => {
  test("an inaccessible message dated 0 does not bring the year 1970", () => {
    const row = archived({
      callback_query: { ...callback, message: { chat: anaChat, message_id: 7, date: 0 } },
    });
    expect(row).toMatchObject({
      kind: "callback",
      sentAt: RECEIVED,
      conversationId: "5000000001",
      platformMessageId: "callback:c1",
      sender: { externalId: "5000000001" },
      payload: { data: "ok", message: { message_id: 7, chat: { id: 5_000_000_001 } } },
    });
  });

  test("a button below an inline message has no chat, only an instance", () => {
    const row = archived({ callback_query: { ...callback, inline_message_id: "im" } });
    expect(row).toMatchObject({
      kind: "callback",
      conversationId: "inline:8812",
      sentAt: RECEIVED,
    });
  });

  test("the message under the button is not copied, and its topic or business chat is the conversation", () => {
    const pressed = (fields: object) =>
      archived({
        callback_query: {
          ...callback,
          message: message({ from: shopBot, text: "Old words", ...fields }),
        },
      });
    expect(JSON.stringify(pressed({}))).not.toContain("Old words");
    expect(pressed({ is_topic_message: true, message_thread_id: 8 }).conversationId).toBe(
      "5000000001:8",
    );
    expect(pressed({ business_connection_id: "bc_1" }).conversationId).toBe(
      "business:bc_1:5000000001",
    );
  });
});

describe("business accounts", () => {
  test("deleted messages are named by the ids they were archived under", () => {
    const kept = archived({
      business_message: message({ business_connection_id: "bc_1", text: "x" }),
    });
    const deletion = { business_connection_id: "bc_1", chat: anaChat, message_ids: [30, 31] };
    expect(update({ deleted_business_messages: deletion }).actions).toMatchObject([
      { type: "message", message: { kind: "service", conversationId: "business:bc_1:5000000001" } },
      {
        type: "deleted",
        platformMessageIds: [kept.platformMessageId, "business:bc_1:5000000001:31"],
      },
    ]);
  });

  test("a deletion that does not say which messages is kept raw, not dropped", () => {
    const deletion = { business_connection_id: "bc_1", chat: anaChat };
    expect(update({ deleted_business_messages: deletion }).actions).toMatchObject([
      {
        type: "raw",
        reason: "malformed",
        message: { payload: { deleted_business_messages: deletion } },
      },
    ]);
  });

  test("a connection is the owner's", () => {
    const connection = {
      id: "bc_1",
      user: owner,
      user_chat_id: owner.id,
      date: DATE,
      is_enabled: true,
    };
    expect(archived({ business_connection: connection })).toMatchObject({
      kind: "service",
      sender: { externalId: `${owner.id}` },
    });
  });
});

describe("a person who stops the bot", () => {
  const change = (status: string, chat: object = anaChat) => ({
    my_chat_member: {
      chat,
      from: ana,
      date: DATE,
      old_chat_member: { status: "member", user: shopBot },
      new_chat_member: { status, user: shopBot },
    },
  });
  const person = { externalId: "5000000001", username: "ana_shops", firstName: "Ana" };

  test.each([
    ["kicked", "blocked"],
    ["member", "unblocked"],
  ])("%s means %s, and the row shows it", (status, type) => {
    expect(update(change(status)).actions).toMatchObject([
      { type: "message", message: { kind: "service" } },
      { type, person, at: SENT },
    ]);
  });

  test("in a group it is the bot's membership, and of an incomplete one nothing follows", () => {
    expect(update(change("kicked", group)).actions).toHaveLength(1);
    const incomplete = { my_chat_member: { chat: anaChat, from: ana, date: DATE } };
    expect(update(incomplete).actions).toMatchObject([
      { type: "message", message: { kind: "service" } },
    ]);
  });
});

test.each([
  ["poll", { id: "p", question: "Which tea?", options: [] }, undefined],
  ["poll_answer", { poll_id: "p", user: ben, option_ids: [1] }, ben],
  ["poll_answer", { poll_id: "p", voter_chat: channel, option_ids: [1] }, undefined],
  ["inline_query", { id: "q", from: ana, query: "tea", offset: "" }, ana],
  ["chosen_inline_result", { result_id: "r", from: ana, query: "tea" }, ana],
  ["shipping_query", { id: "s", from: ana, invoice_payload: "7" }, ana],
  ["pre_checkout_query", { id: "s", from: ana, currency: "EUR", total_amount: 1 }, ana],
  ["purchased_paid_media", { from: ana, paid_media_payload: "7" }, ana],
  ["chat_member", { chat: group, from: ben, date: DATE }, ben],
  ["chat_join_request", { chat: group, from: ben, user_chat_id: ben.id, date: DATE }, ben],
  ["chat_boost", { chat: channel, boost: { boost_id: "b" } }, undefined],
  ["removed_chat_boost", { chat: channel, boost_id: "b", remove_date: DATE }, undefined],
  ["stopped_message_generation", { chat: anaChat, message_thread_id: 8, draft_id: 1 }, ana],
  ["managed_bot", { user: owner, bot: shopBot }, owner],
  ["subscription", { user: ana, invoice_payload: "7", state: "active" }, ana],
])("%s is kept as a service event of the person it names", (name, event, person) => {
  const [first] = update({ [name]: event }).actions;
  expect(first).toMatchObject({
    type: "message",
    message: { kind: "service", text: null, payload: event },
  });
  expect(archived({ [name]: event }).sender?.externalId).toBe(person && `${person.id}`);
});
