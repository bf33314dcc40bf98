import type { MessageKind } from "../chat/message.ts";
import { has } from "../chat/payload.ts";

/**
 * Content keys in the order they must be asked: an animation also carries `document`, a live photo also
 * `photo`, a venue also `location`.
 */
const CONTENT = [
  "animation",
  "audio",
  "document",
  "live_photo",
  "paid_media",
  "photo",
  "sticker",
  "story",
  "video",
  "video_note",
  "voice",
  "contact",
  "dice",
  "game",
  "poll",
  "venue",
  "location",
  "checklist",
] as const satisfies readonly MessageKind[];

/** Things that happened rather than were said (Bot API 10.0). */
const SERVICE = [
  "boost_added",
  "channel_chat_created",
  "chat_background_set",
  "chat_owner_changed",
  "chat_owner_left",
  "chat_shared",
  "checklist_tasks_added",
  "checklist_tasks_done",
  "community_chat_added",
  "community_chat_joined",
  "community_chat_removed",
  "connected_website",
  "delete_chat_photo",
  "direct_message_price_changed",
  "forum_topic_closed",
  "forum_topic_created",
  "forum_topic_edited",
  "forum_topic_reopened",
  "general_forum_topic_hidden",
  "general_forum_topic_unhidden",
  "gift",
  "gift_upgrade_sent",
  "giveaway",
  "giveaway_completed",
  "giveaway_created",
  "giveaway_winners",
  "group_chat_created",
  "invoice",
  "left_chat_member",
  "managed_bot_created",
  "message_auto_delete_timer_changed",
  "migrate_from_chat_id",
  "migrate_to_chat_id",
  "new_chat_members",
  "new_chat_photo",
  "new_chat_title",
  "paid_message_price_changed",
  "passport_data",
  "pinned_message",
  "poll_option_added",
  "poll_option_deleted",
  "proximity_alert_triggered",
  "refunded_payment",
  "successful_payment",
  "suggested_post_approval_failed",
  "suggested_post_approved",
  "suggested_post_declined",
  "suggested_post_info",
  "suggested_post_paid",
  "suggested_post_refunded",
  "supergroup_chat_created",
  "unique_gift",
  "users_shared",
  "video_chat_ended",
  "video_chat_participants_invited",
  "video_chat_scheduled",
  "video_chat_started",
  "web_app_data",
  "write_access_allowed",
];

/** The kind of a Telegram message; `unsupported` where it has no content that this version knows. */
export function kindOf(message: Record<string, unknown>): MessageKind {
  if (has(message, "rich_message")) return "rich";
  const content = CONTENT.find((key) => has(message, key));
  if (content) return content;
  if (typeof message.text === "string") return "text";
  return SERVICE.some((key) => has(message, key)) ? "service" : "unsupported";
}
