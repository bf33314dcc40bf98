import { expect, test } from "vitest";
import {
  ana,
  anaChat,
  archived,
  ben,
  channel,
  group,
  inGroup,
  message,
  owner,
  shopBot,
} from "./fixtures.ts";

const fromAna = { externalId: "5000000001", username: "ana_shops", firstName: "Ana" };
const fromBen = { externalId: "7999999999", firstName: "Ben" };
const business = { business_connection_id: "bc_1", chat: anaChat };

test.each([
  ["a private chat", { message: message({ text: "x" }) }, fromAna],
  ["a group", { message: inGroup({ text: "x" }) }, fromBen],
  [
    "a text made with an inline bot",
    { message: message({ text: "x", via_bot: shopBot }) },
    fromAna,
  ],
  ["a customer of a business", { business_message: message({ ...business, text: "x" }) }, fromAna],
  [
    "somebody who calls a guest bot into a chat with another person",
    { guest_message: message({ guest_query_id: "g1", from: ben, text: "x" }) },
    fromBen,
  ],
])("in %s the writer is the person", (_where, update, sender) => {
  expect(archived(update)).toMatchObject({ direction: "inbound", sender });
});

test.each([
  [
    "a channel post",
    {
      channel_post: {
        message_id: 2949,
        date: 1_772_359_200,
        chat: channel,
        sender_chat: channel,
        text: "news",
      },
    },
  ],
  [
    "an edited channel post",
    { edited_channel_post: { message_id: 2949, date: 1_772_359_200, chat: channel, text: "news" } },
  ],
  [
    "an anonymous admin",
    {
      message: inGroup({
        from: {
          id: 1_087_968_824,
          is_bot: true,
          first_name: "Group",
          username: "GroupAnonymousBot",
        },
        sender_chat: group,
        author_signature: "owner",
        forward_origin: { type: "chat", date: 1, sender_chat: group, author_signature: "owner" },
        text: "x",
      }),
    },
  ],
  [
    "a post forwarded from the linked channel",
    {
      message: inGroup({
        from: { id: 777_000, is_bot: false, first_name: "Telegram" },
        sender_chat: channel,
        is_automatic_forward: true,
        text: "x",
      }),
    },
  ],
  [
    "somebody who writes as a channel",
    {
      message: inGroup({
        from: { id: 136_817_688, is_bot: true, first_name: "Channel" },
        sender_chat: channel,
        text: "x",
      }),
    },
  ],
  ["a fake sender, whatever its id", { message: inGroup({ sender_chat: channel, text: "x" }) }],
  ["another bot in a group", { message: inGroup({ from: shopBot, text: "x" }) }],
  [
    "another bot in its chat with ours",
    { message: message({ from: shopBot, chat: { id: shopBot.id, type: "private" }, text: "x" }) },
  ],
  [
    "a bot that calls a guest bot",
    { guest_message: message({ guest_query_id: "g1", from: shopBot, text: "x" }) },
  ],
  [
    "Telegram's own notices in a business account",
    {
      business_message: message({
        ...business,
        chat: { id: 777_000, type: "private", first_name: "Telegram" },
        from: { id: 777_000, is_bot: false, first_name: "Telegram" },
        text: "Login code",
      }),
    },
  ],
])("%s is archived without a person", (_what, update) => {
  const row = archived(update);
  expect(row).not.toHaveProperty("sender");
  expect(row.direction).toBe("inbound");
  expect(row.kind).toBe("text");
});

test.each([
  [
    "the owner of a business account",
    { business_message: message({ ...business, from: owner, text: "x" }) },
  ],
  [
    "the owner's edit",
    { edited_business_message: message({ ...business, from: owner, text: "x" }) },
  ],
  [
    "a bot on the owner's behalf",
    {
      business_message: message({
        ...business,
        from: owner,
        sender_business_bot: shopBot,
        is_from_offline: true,
        text: "x",
      }),
    },
  ],
  [
    "a bot on the owner's behalf, whoever is named as sender",
    { business_message: message({ ...business, sender_business_bot: shopBot, text: "x" }) },
  ],
  ["the bot itself", { message: message({ from: shopBot, text: "x" }) }],
  [
    "a channel in its direct messages",
    {
      message: inGroup({
        from: { id: 136_817_688, is_bot: true, first_name: "Channel" },
        sender_chat: channel,
        direct_messages_topic: { topic_id: 12, user: ana },
        text: "x",
      }),
    },
  ],
])("%s speaks to the person: outbound, in that person's history", (_who, update) => {
  expect(archived(update)).toMatchObject({ direction: "outbound", sender: fromAna });
});

test("a person who writes to a channel's direct messages is its sender", () => {
  const row = archived({
    message: inGroup({ from: ana, direct_messages_topic: { topic_id: 12, user: ana }, text: "x" }),
  });
  expect(row).toMatchObject({ direction: "inbound", sender: fromAna });
});
