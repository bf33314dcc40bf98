import { ana, anaChat, channel, DATE, forum, group, inGroup, message } from "./fixtures.ts";
import { hers, his, nobodys, type Shape } from "./shape.ts";

const anonymousAdmin = {
  id: 1_087_968_824,
  is_bot: true,
  first_name: "Group",
  username: "GroupAnonymousBot",
};
const service = { id: 777_000, is_bot: false, first_name: "Telegram" };
const family = [..."👨‍👩‍👧‍👦 שלום مرحبا e\u0301 \uFEFF"].join("");
const longest = "ü".repeat(4096);

/** What people and bots say to each other, in the shapes that the Bot API has had (10.0). */
export const TALK_SHAPES: readonly Shape[] = [
  [
    "a private text",
    [{ message: message({ message_id: 1, text: "hello" }) }],
    [hers("text", "hello")],
  ],
  [
    "a supergroup text with entities, a reply and a reply thread",
    [
      {
        message: inGroup({
          message_id: 2,
          message_thread_id: 77,
          text: "see @shop_bot",
          entities: [{ type: "mention", offset: 4, length: 9 }],
          reply_to_message: inGroup({ message_id: 1, text: "other words" }),
        }),
      },
    ],
    [{ ...his("text", "see @shop_bot"), conversation: `${group.id}` }],
  ],
  [
    "an edit of a message that was never seen",
    [{ edited_message: message({ message_id: 4, text: "better", edit_date: DATE + 60 }) }],
    [hers("text", "better")],
  ],
  [
    "a channel post without a sender",
    [
      {
        channel_post: {
          message_id: 5,
          date: DATE,
          chat: channel,
          sender_chat: channel,
          text: "news",
        },
      },
    ],
    [nobodys("text", "news")],
  ],
  [
    "an anonymous admin who passes on a channel's signed post",
    [
      {
        message: inGroup({
          ...{ message_id: 6, from: anonymousAdmin, sender_chat: group, text: "read this" },
          author_signature: "admin",
          forward_origin: {
            type: "chat",
            date: DATE,
            sender_chat: channel,
            author_signature: "ed",
          },
        }),
      },
    ],
    [{ ...nobodys("text", "read this"), forwarded: true }],
  ],
  [
    "a group that becomes a supergroup, told from both sides",
    [
      {
        message: inGroup({
          message_id: 7,
          chat: { id: -4_518_810_793, type: "group" },
          migrate_to_chat_id: group.id,
        }),
      },
      { message: inGroup({ message_id: 1, migrate_from_chat_id: -4_518_810_793 }) },
    ],
    [his("service"), his("service")],
  ],
  [
    "a forum's topic: opened, written to, and closed without the mark of one",
    [
      {
        message: inGroup({
          message_id: 9,
          chat: forum,
          message_thread_id: 9,
          is_topic_message: true,
          forum_topic_created: { name: "Teas", icon_color: 1 },
        }),
      },
      {
        message: inGroup({
          message_id: 10,
          chat: forum,
          message_thread_id: 9,
          is_topic_message: true,
          text: "green",
        }),
      },
      {
        message: inGroup({
          message_id: 11,
          chat: forum,
          message_thread_id: 9,
          forum_topic_closed: {},
        }),
      },
    ],
    [his("service"), his("text", "green"), his("service")].map((row) => ({
      ...row,
      conversation: `${forum.id}:9`,
    })),
  ],
  [
    "business messages: the partner's, the owner's answer, and one a bot wrote for the owner",
    [
      {
        business_message: message({
          message_id: 23,
          business_connection_id: "biz",
          text: "open today?",
        }),
      },
      {
        business_message: message({
          message_id: 24,
          business_connection_id: "biz",
          from: { id: 5_000_000_077, is_bot: false, first_name: "Shop" },
          text: "yes",
        }),
      },
      {
        business_message: message({
          message_id: 25,
          business_connection_id: "biz",
          from: { id: 5_000_000_077, is_bot: false, first_name: "Shop" },
          sender_business_bot: { id: 6, is_bot: true, first_name: "B" },
          text: "until six",
        }),
      },
    ],
    [
      hers("text", "open today?"),
      { ...hers("text", "yes"), direction: "outbound" as const },
      { ...hers("text", "until six"), direction: "outbound" as const },
    ].map((row) => ({ ...row, conversation: `business:biz:${ana.id}` })),
  ],
  [
    "an answer to another chat's message, with a quote",
    [
      {
        message: message({
          message_id: 33,
          text: "that one",
          external_reply: {
            origin: { type: "channel", chat: channel, message_id: 4, date: DATE },
            chat: channel,
            message_id: 4,
          },
          quote: { text: "somebody else's words", position: 0, is_manual: true },
        }),
      },
    ],
    [hers("text", "that one")],
  ],
  [
    "a guest bot called into another chat",
    [{ guest_message: inGroup({ message_id: 39, guest_query_id: "q1", text: "what is this?" }) }],
    [{ ...his("text", "what is this?"), conversation: `guest:${group.id}` }],
  ],
  [
    "ephemeral messages, all with the message id 0",
    [
      { message: inGroup({ message_id: 0, ephemeral_message_id: 5, text: "one" }) },
      { message: inGroup({ message_id: 0, ephemeral_message_id: 6, text: "two" }) },
    ],
    [his("text", "one"), his("text", "two")],
  ],
  [
    "a linked channel's post that Telegram passes on",
    [
      {
        message: inGroup({
          message_id: 41,
          from: service,
          sender_chat: channel,
          is_automatic_forward: true,
          text: "news",
          forward_origin: { type: "channel", date: DATE, chat: channel, message_id: 5 },
        }),
      },
    ],
    [{ ...nobodys("text", "news"), forwarded: true }],
  ],
  [
    "what was written by way of another bot, and what another bot wrote",
    [
      {
        message: message({
          message_id: 42,
          via_bot: { id: 8, is_bot: true, first_name: "gif" },
          text: "via",
        }),
      },
      {
        message: inGroup({
          message_id: 43,
          from: { id: 8, is_bot: true, first_name: "gif" },
          text: "beep",
        }),
      },
    ],
    [hers("text", "via"), nobodys("text", "beep")],
  ],
  [
    "joined emoji, right to left, a byte order mark, and the longest text",
    [
      { message: message({ message_id: 49, text: family }) },
      { message: message({ message_id: 50, text: longest }) },
    ],
    [hers("text", family), hers("text", longest)],
  ],
  [
    "U+0000 and half of an emoji, which no database holds",
    [{ message: message({ message_id: 51, text: "a\u0000b\ud83d" }) }],
    [hers("text", "a\uFFFDb\uFFFD")],
  ],
  [
    "two messages of one second, the later one first",
    [
      { message: message({ message_id: 53, text: "later" }) },
      { message: message({ message_id: 52, text: "earlier" }) },
    ],
    [hers("text", "later"), hers("text", "earlier")],
  ],
  [
    "the bot's own words in a private chat",
    [
      {
        message: message({
          message_id: 55,
          chat: anaChat,
          from: { id: 6_100_000_001, is_bot: true, first_name: "Shop" },
          text: "welcome",
        }),
      },
    ],
    [{ ...hers("text", "welcome"), direction: "outbound" }],
  ],
];
