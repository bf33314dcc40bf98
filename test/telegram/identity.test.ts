import { expect, test } from "vitest";
import { ana, anaChat, archived, DATE, forum, inGroup, message, owner } from "./fixtures.ts";

test("a topic is its own conversation, a reply thread of a plain group is not", () => {
  const topic = { chat: forum, message_thread_id: 5 };
  const rows = [
    archived({ message: inGroup({ ...topic, is_topic_message: true, text: "x" }) }),
    archived({ message: inGroup({ ...topic, forum_topic_closed: {} }) }),
    archived({
      message: inGroup({ message_thread_id: 5, reply_to_message: inGroup(), text: "x" }),
    }),
    archived({ message: message({ message_thread_id: 8, is_topic_message: true, text: "x" }) }),
    archived({ message: inGroup({ direct_messages_topic: { topic_id: 12 }, text: "x" }) }),
  ];
  expect(rows.map((row) => row.conversationId)).toEqual([
    "-1002471352452:5",
    "-1002471352452:5",
    "-1002471352452",
    "5000000001:8",
    "-1002471352452:12",
  ]);
});

test("both sides of a business chat share one conversation, which is not the bot's own chat with that person", () => {
  const business = { business_connection_id: "bc_1", chat: anaChat, text: "x" };
  const rows = [
    archived({ business_message: message(business) }),
    archived({ business_message: message({ ...business, from: owner, message_id: 31 }) }),
    archived({ message: message({ text: "x" }) }),
    archived({ guest_message: message({ guest_query_id: "g1", text: "x" }) }),
  ];
  expect(rows.map((row) => row.conversationId)).toEqual([
    "business:bc_1:5000000001",
    "business:bc_1:5000000001",
    "5000000001",
    "guest:5000000001",
  ]);
  expect(new Set(rows.map((row) => row.platformMessageId)).size).toBe(4);
});

test("an empty business connection means the bot's own chat", () => {
  const row = archived({ message: message({ business_connection_id: "", text: "x" }) });
  expect(row.platformMessageId).toBe("5000000001:30");
});

test("two calls of a guest bot with one message id are two messages", () => {
  const ids = ["g1", "g2"].map(
    (id) => archived({ guest_message: message({ guest_query_id: id }) }).platformMessageId,
  );
  expect(new Set(ids).size).toBe(2);
});

test("messages without an id of their own stay apart, and one message stays one", () => {
  const ephemeral = { message_id: 0, ephemeral_message_id: 4, receiver_user: owner, text: "psst" };
  const id = (fields: object, updateId: number, kind = "message") =>
    archived({ [kind]: message(fields) }, updateId).platformMessageId;
  const first = id(ephemeral, 1);
  expect(id({ ...ephemeral, text: "psst!" }, 2, "edited_message")).toBe(first);
  expect(id({ ...ephemeral, ephemeral_message_id: 5 }, 3)).not.toBe(first);
  expect(id({ ...ephemeral, date: DATE + 86_400 }, 4)).not.toBe(first);
  const unsent = { message_id: 0, video: { file_id: "F" } };
  expect(id(unsent, 5)).not.toBe(id(unsent, 6));
  expect(id(unsent, 5)).toBe(id(unsent, 5));
});

test("ids keep their digits: all that JavaScript holds exactly, also negative ones", () => {
  const chat = { id: Number.MIN_SAFE_INTEGER, type: "supergroup" };
  for (const id of [7_999_999_999, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER]) {
    const from = { ...ana, id };
    const row = archived({
      message: inGroup({ chat, from, message_id: 2_147_483_650, text: "x" }),
    });
    expect(row.platformMessageId).toBe("-9007199254740991:2147483650");
    expect(row.sender?.externalId).toBe(String(id));
  }
});
