import { OutgoingImage } from "../../chat/outgoing.ts";
import type { Sending } from "../../chat/sending.ts";
import { defineTool } from "../tool.ts";
import { SENDS, Sent } from "./send-message.ts";

export const sendImage = (sending: Sending) =>
  defineTool({
    name: "send_image",
    title: "Send an image",
    description: "Sends a picture, as send_message does a text.",
    annotations: SENDS,
    input: OutgoingImage.extend({
      image: OutgoingImage.shape.image.describe("http(s) URL, the channel's file id, or base64"),
    }),
    output: Sent,
    handle: ({ image, caption = "", format, ...to }, { principal, signal }) =>
      sending.send(principal, "send_image", to, { text: caption, format, image }, signal),
  });
