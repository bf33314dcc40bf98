import { ben, channel, DATE, group, inGroup, message, photo } from "./fixtures.ts";
import { hers, his, type Shape } from "./shape.ts";

const file = { file_id: "AgAD", file_unique_id: "u", file_size: 2048 };

/** Pictures, sounds, places and what happens in a chat, in the shapes that the Bot API has had (10.0). */
export const MEDIA_SHAPES: readonly Shape[] = [
  [
    "a story passed on",
    [{ message: message({ message_id: 3, story: { chat: channel, id: 9 } }) }],
    [hers("story")],
  ],
  [
    "a photo with a caption and its entities",
    [
      {
        message: message({
          message_id: 12,
          photo,
          caption: "my teapot",
          caption_entities: [{ type: "bold", offset: 3, length: 6 }],
        }),
      },
    ],
    [hers("photo", "my teapot")],
  ],
  [
    "a caption above the media",
    [
      {
        message: message({
          message_id: 13,
          photo,
          caption: "above",
          show_caption_above_media: true,
        }),
      },
    ],
    [hers("photo", "above")],
  ],
  [
    "an album: two updates, one caption",
    [
      { message: message({ message_id: 14, media_group_id: "g1", photo, caption: "both" }) },
      { message: message({ message_id: 15, media_group_id: "g1", photo }) },
    ],
    [hers("photo", "both"), hers("photo")],
  ],
  [
    "a video passed on from somebody hidden",
    [
      {
        message: message({
          message_id: 16,
          video: { ...file, width: 1, height: 1, duration: 3 },
          forward_origin: { type: "hidden_user", date: DATE, sender_user_name: "Somebody" },
        }),
      },
    ],
    [{ ...hers("video"), forwarded: true }],
  ],
  [
    "a sticker",
    [
      {
        message: message({
          message_id: 17,
          sticker: { ...file, type: "regular", width: 1, height: 1, emoji: "👍" },
        }),
      },
    ],
    [hers("sticker")],
  ],
  [
    "dice",
    [{ message: message({ message_id: 18, dice: { emoji: "🎲", value: 6 } }) }],
    [hers("dice")],
  ],
  [
    "a venue, which also carries its location",
    [
      {
        message: message({
          message_id: 19,
          venue: {
            title: "Tea house",
            address: "1 Leaf St",
            location: { latitude: 45.7, longitude: 4.8 },
          },
          location: { latitude: 45.7, longitude: 4.8 },
        }),
      },
      { message: message({ message_id: 20, location: { latitude: 45.7, longitude: 4.8 } }) },
    ],
    [hers("venue"), hers("location")],
  ],
  [
    "a pinned message, readable or not",
    [
      {
        message: inGroup({
          message_id: 21,
          pinned_message: inGroup({ message_id: 2, text: "old" }),
        }),
      },
      {
        message: inGroup({
          message_id: 22,
          pinned_message: { chat: group, message_id: 3, date: 0 },
        }),
      },
    ],
    [his("service"), his("service")],
  ],
  [
    "a voice message",
    [{ message: message({ message_id: 26, voice: { ...file, duration: 2 } }) }],
    [hers("voice")],
  ],
  [
    "a document",
    [
      {
        message: message({
          message_id: 27,
          document: { ...file, file_name: "menu.pdf" },
          caption: "menu",
        }),
      },
    ],
    [hers("document", "menu")],
  ],
  [
    "an animation, which also carries a document",
    [
      {
        message: message({
          message_id: 28,
          animation: { ...file, width: 1, height: 1, duration: 1 },
          document: file,
        }),
      },
    ],
    [hers("animation")],
  ],
  [
    "a video note",
    [{ message: message({ message_id: 29, video_note: { ...file, length: 1, duration: 1 } }) }],
    [hers("video_note")],
  ],
  [
    "a contact",
    [
      {
        message: message({
          message_id: 31,
          contact: { phone_number: "+15550100", first_name: "Shop" },
        }),
      },
    ],
    [hers("contact")],
  ],
  [
    "a poll",
    [
      {
        message: message({
          message_id: 32,
          poll: { id: "p1", question: "Green or black?", options: [], total_voter_count: 0 },
        }),
      },
    ],
    [hers("poll")],
  ],
  [
    "people and a chat shared with the bot",
    [
      {
        message: message({
          message_id: 34,
          users_shared: { request_id: 1, users: [{ user_id: ben.id }] },
        }),
      },
      { message: message({ message_id: 35, chat_shared: { request_id: 2, chat_id: group.id } }) },
    ],
    [hers("service"), hers("service")],
  ],
  [
    "a text with an effect",
    [{ message: message({ message_id: 36, text: "yay", effect_id: "5104841245755180586" }) }],
    [hers("text", "yay")],
  ],
  [
    "a message with no content at all",
    [{ message: message({ message_id: 37 }) }],
    [hers("unsupported")],
  ],
  [
    "a rich message, nested 16 deep",
    [{ message: message({ message_id: 38, rich_message: { blocks: [nested(16)] } }) }],
    [hers("rich", "innermost")],
  ],
  [
    "a payment and what a web app sent",
    [
      {
        message: message({
          message_id: 44,
          successful_payment: { currency: "XTR", total_amount: 5, invoice_payload: "i" },
        }),
      },
      { message: message({ message_id: 45, web_app_data: { data: "{}", button_text: "Send" } }) },
    ],
    [hers("service"), hers("service")],
  ],
  [
    "gifts and suggested posts",
    [
      { message: message({ message_id: 46, gift: { gift: { id: "g", star_count: 5 } } }) },
      {
        message: message({
          message_id: 47,
          unique_gift: { gift: { base_name: "Mug", number: 1 }, origin: "upgrade" },
        }),
      },
      { message: message({ message_id: 48, suggested_post_approved: { send_date: DATE } }) },
    ],
    [hers("service"), hers("service"), hers("service")],
  ],
  [
    "a live photo, which also carries a photo",
    [{ message: message({ message_id: 54, live_photo: { ...file, duration: 1 }, photo }) }],
    [hers("live_photo")],
  ],
];

function nested(depth: number): object {
  return depth === 0
    ? { type: "paragraph", text: "innermost" }
    : { type: "blockquote", blocks: [nested(depth - 1)] };
}
