import { createHmac, timingSafeEqual } from "node:crypto";

/** A delivery's headers and body as the Standard Webhooks specification signs them (standardwebhooks.com, version 1). */
export interface SignedContent {
  /** `webhook-id`: the same for every attempt, so that the receiver knows a repetition. */
  readonly id: string;
  /** `webhook-timestamp`: unix seconds of this attempt. */
  readonly timestamp: number;
  readonly body: string | Buffer;
}

/** How far a sender's clock may be off, in seconds: what is older may be a recording that somebody plays again. */
const TOLERANCE_SECONDS = 300;

const SECRET = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/;

/** Whether a text is a signing secret: `whsec_` and 24 to 64 bytes in base64. */
export function isSigningSecret(text: string): boolean {
  const bytes = keyOf(text)?.length ?? 0;
  return bytes >= 24 && bytes <= 64;
}

/** The value of `webhook-signature`. */
export function sign(secret: string, { id, timestamp, body }: SignedContent): string {
  const key = keyOf(secret);
  if (!key) throw new Error("not a signing secret");
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest("base64")}`;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Checks a signature over the body's own bytes; several, parted by spaces, are how a sender changes its secret.
 *
 * @returns the delivery's id, undefined where it is not signed with the secret or not of these minutes
 */
export function verifiedId(
  secret: string,
  headers: Headers,
  body: Buffer,
  now: Date,
): string | undefined {
  const { "webhook-id": id, "webhook-timestamp": sentAt, "webhook-signature": given } = headers;
  if (typeof id !== "string" || typeof sentAt !== "string" || typeof given !== "string") return;
  if (!/^[!-~]{1,256}$/.test(id) || !/^\d{1,12}$/.test(sentAt)) return;
  const timestamp = Number(sentAt);
  if (Math.abs(now.getTime() / 1000 - timestamp) > TOLERANCE_SECONDS) return;
  const expected = Buffer.from(sign(secret, { id, timestamp, body }));
  const isGood = given.split(" ").some((one) => {
    const signature = Buffer.from(one);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  });
  return isGood ? id : undefined;
}

function keyOf(secret: string): Buffer | undefined {
  const encoded = SECRET.exec(secret)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64");
}
