import { createHash } from "node:crypto";
import { z } from "zod";
import { IdempotencyKey } from "../idempotency/service.ts";
import { UserId } from "../users/person.ts";

const FORMATS = ["plain", "markdown", "html"] as const;
export type TextFormat = (typeof FORMATS)[number];

const MAX_OUTGOING_TEXT = 32_768;
const MAX_IMAGE_BYTES = 10 * 1024 * 1024;

/** A picture to send: where it is, what the platform calls it, or itself. */
export type Image =
  | { readonly url: string }
  | { readonly fileId: string }
  | { readonly bytes: Uint8Array; readonly type: ImageType };

type ImageType = "png" | "jpeg" | "gif" | "webp";

/** Base64 of the magic bytes. */
const BEGINNINGS: readonly [ImageType, RegExp][] = [
  ["png", /^iVBORw0KGg/],
  ["jpeg", /^\/9j\//],
  ["gif", /^R0lGOD[dl]/],
  ["webp", /^UklGR.{8}XRUJQ/],
];

const NO_IMAGE =
  "is neither an http(s) URL, nor a file id, nor a PNG, JPEG, GIF or WebP of at most 10 MB in base64";

const ImageSource = z
  .string()
  .min(1)
  .transform((text, context): Image => {
    const image = readImage(text);
    if (image) return image;
    context.addIssue({ code: "custom", message: NO_IMAGE });
    return z.NEVER;
  });

function readImage(text: string): Image | undefined {
  if (/^https?:\/\//i.test(text))
    return text.length <= 2000 && URL.canParse(text) ? { url: text } : undefined;
  const base64 = text.replace(/^data:[^,]{0,100};base64,/i, "");
  const [type] = BEGINNINGS.find(([, beginning]) => beginning.test(base64)) ?? [];
  if (
    type &&
    base64.length <= (MAX_IMAGE_BYTES * 4) / 3 + 4 &&
    /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(base64)
  )
    return { bytes: Buffer.from(base64, "base64"), type };
  return /^[A-Za-z0-9_-]{16,256}$/.test(text) ? { fileId: text } : undefined;
}

/** What the archive says of a picture: never its bytes. */
export function describeImage(image: Image) {
  if (!("bytes" in image)) return image;
  const { bytes, type } = image;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { sha256, type: `image/${type}`, bytes: bytes.length };
}

const Outgoing = z.strictObject({
  userId: UserId,
  conversationId: z.string().min(1).max(256).optional(),
  format: z.enum(FORMATS).default("plain"),
  idempotencyKey: IdempotencyKey.optional(),
});

export const OutgoingTextMessage = Outgoing.extend({
  text: z.string().min(1).max(MAX_OUTGOING_TEXT),
});

export const OutgoingImage = Outgoing.extend({
  image: ImageSource,
  caption: z.string().max(MAX_OUTGOING_TEXT).optional(),
});

/** Where a message goes, and the call's idempotency key. */
export type Addressed = Omit<z.output<typeof Outgoing>, "format">;
