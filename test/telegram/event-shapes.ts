import { ana, anaChat, ben, channel, DATE, group, message } from "./fixtures.ts";
import { hers, his, nobodys, type Shape } from "./shape.ts";

const member = (status: string) => ({ user: { id: 6, is_bot: true, first_name: "Shop" }, status });

/** Updates that carry no message of their own. */
export const EVENT_SHAPES: readonly Shape[] = [
  [
    "a reaction of a person and one of a channel",
    [
      {
        message_reaction: {
          chat: group,
          message_id: 2,
          user: ben,
          date: DATE,
          old_reaction: [],
          new_reaction: [{ type: "emoji", emoji: "👍" }],
        },
      },
      {
        message_reaction: {
          chat: group,
          message_id: 2,
          actor_chat: channel,
          date: DATE,
          old_reaction: [],
          new_reaction: [],
        },
      },
    ],
    [his("reaction"), nobodys("reaction")],
  ],
  [
    "a channel's count of reactions",
    [
      {
        message_reaction_count: {
          chat: channel,
          message_id: 5,
          date: DATE,
          reactions: [{ type: { type: "emoji", emoji: "👍" }, total_count: 9 }],
        },
      },
    ],
    [nobodys("reaction")],
  ],
  [
    "a bot that is blocked and unblocked",
    [
      {
        my_chat_member: {
          chat: anaChat,
          from: ana,
          date: DATE,
          old_chat_member: member("member"),
          new_chat_member: member("kicked"),
        },
      },
      {
        my_chat_member: {
          chat: anaChat,
          from: ana,
          date: DATE,
          old_chat_member: member("kicked"),
          new_chat_member: member("member"),
        },
      },
    ],
    [hers("service"), hers("service")],
  ],
  [
    "a button below a message, below one that is out of sight, and below an inline one",
    [
      {
        callback_query: {
          id: "c1",
          from: ana,
          chat_instance: "x",
          data: "ok",
          message: message({ message_id: 7, text: "press" }),
        },
      },
      {
        callback_query: {
          id: "c2",
          from: ana,
          chat_instance: "x",
          data: "ok",
          message: { chat: anaChat, message_id: 7, date: 0 },
        },
      },
      {
        callback_query: {
          id: "c3",
          from: ana,
          chat_instance: "x",
          data: "ok",
          inline_message_id: "im",
        },
      },
    ],
    [hers("callback"), hers("callback"), hers("callback")],
  ],
  [
    "a business connection and a deletion in it",
    [
      {
        business_connection: {
          id: "biz2",
          user: ana,
          user_chat_id: ana.id,
          date: DATE,
          is_enabled: true,
        },
      },
      {
        deleted_business_messages: {
          business_connection_id: "biz2",
          chat: anaChat,
          message_ids: [1, 2],
        },
      },
    ],
    [hers("service"), hers("service")],
  ],
  [
    "a poll's state and an answer to it",
    [
      { poll: { id: "p1", question: "Green or black?", options: [], total_voter_count: 1 } },
      { poll_answer: { poll_id: "p1", user: ana, option_ids: [0] } },
    ],
    [nobodys("service"), hers("service")],
  ],
  [
    "an inline query, a request to join and a generation that was stopped",
    [
      { inline_query: { id: "i1", from: ana, query: "tea", offset: "" } },
      { chat_join_request: { chat: group, from: ben, user_chat_id: ben.id, date: DATE } },
      { stopped_message_generation: { chat: anaChat, from: ana, message_id: 9 } },
    ],
    [hers("service"), his("service"), hers("service")],
  ],
  [
    "a kind that no version knows",
    [{ some_future_update: { from: ana, chat: anaChat, date: DATE, news: true } }],
    [hers("unsupported")],
  ],
];
