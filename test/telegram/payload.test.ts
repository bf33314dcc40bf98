import { expect, test } from "vitest";
import { ana, anaChat, archived, channel, inGroup, message } from "./fixtures.ts";

test("of what a message replies to, quotes or pins only the ids stay", () => {
  const other = inGroup({ message_id: 3, text: "Ben's private words" });
  const fields = {
    text: "me too",
    reply_to_message: other,
    quote: { text: "Ben's private words", position: 4, is_manual: true },
    external_reply: { origin: { type: "user", sender_user: ana }, chat: channel, message_id: 9 },
    reply_to_story: { id: 2, chat: { ...anaChat, first_name: "Ben's private words" } },
  };
  const { payload } = archived({ message: message(fields) });
  expect(JSON.stringify(payload)).not.toContain("private words");
  expect(payload).toMatchObject({
    text: "me too",
    reply_to_message: { message_id: 3, chat: { id: -1_002_471_352_452 } },
    quote: { position: 4, is_manual: true },
    external_reply: { message_id: 9, chat: { id: -1_001_832_400_000 } },
    reply_to_story: { id: 2, chat: { id: 5_000_000_001 } },
  });
});

test.each([
  ["pinned_message", inGroup({ text: "secret plan" }), "pinned_message"],
  ["pinned_message", { chat: anaChat, message_id: 4, date: 0 }, "pinned_message"],
  [
    "checklist_tasks_done",
    { checklist_message: inGroup({ text: "secret plan" }) },
    "checklist_message",
  ],
  [
    "giveaway_completed",
    { giveaway_message: inGroup({ text: "secret plan" }) },
    "giveaway_message",
  ],
  [
    "suggested_post_declined",
    { suggested_post_message: inGroup({ text: "secret plan" }) },
    "suggested_post_message",
  ],
])("%s does not copy the message that it is about", (key, value, quoted) => {
  const row = archived({ message: inGroup({ [key]: value }) });
  expect(row).toMatchObject({ kind: "service", text: null });
  expect(JSON.stringify(row.payload)).not.toContain("secret plan");
  expect(JSON.stringify(row.payload)).toContain(`"${quoted}":{"message_id":`);
});

test("identity documents and invitations are not stored", () => {
  const passport = {
    data: [{ type: "passport", data: "c2VjcmV0" }],
    credentials: { secret: "s3" },
  };
  const documents = archived({ message: message({ passport_data: passport }) });
  expect(documents).toMatchObject({ kind: "service", payload: { passport_data: "[removed]" } });
  const join = {
    chat: channel,
    from: ana,
    date: 1,
    invite_link: { invite_link: "https://t.me/+abc" },
  };
  expect(JSON.stringify(archived({ chat_join_request: join }))).not.toContain("t.me");
});
