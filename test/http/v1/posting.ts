import { sign } from "../../../src/channels/standard-webhooks.ts";
import { OWNER_KEY, type TestApp } from "../../support/app.ts";

/** A signing secret of 32 bytes, all of one letter. */
export const secretOfLetter = (letter: string) =>
  `whsec_${Buffer.from(letter.repeat(32)).toString("base64")}`;

export const MESSAGES_SECRET = secretOfLetter("m");

interface PostAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

let deliveries = 0;
let messages = 0;

/** A new message of a visitor of the web shop. */
export const hello = (fields: object = {}) => ({
  channel: "web",
  id: `m${++messages}`,
  externalUserId: "visitor-1",
  direction: "inbound",
  text: "hello",
  sentAt: "2026-03-01T10:00:00Z",
  ...fields,
});

/** The headers of a signed delivery. */
export function signedHeaders(body: string | Buffer, secret: string, at: Date) {
  const id = `msg_${++deliveries}`;
  const timestamp = Math.floor(at.getTime() / 1000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": sign(secret, { id, timestamp, body }),
  };
}

/** What tests ask of `POST /v1/messages`. */
export function poster(app: TestApp, now: () => Date) {
  const send = async (
    payload: string | Buffer,
    headers: Record<string, string>,
    query = "",
  ): Promise<PostAnswer> => {
    const { statusCode, body } = await app.http.inject({
      method: "POST",
      url: `/v1/messages${query}`,
      headers: { "content-type": "application/json", ...headers },
      payload,
    });
    return { status: statusCode, body: JSON.parse(body) };
  };
  return {
    send,
    /** With an API key. */
    keyed: (body: object, key = OWNER_KEY) =>
      send(JSON.stringify(body), { authorization: `Bearer ${key}` }),
    /** With a signature, by default of the default org's host app. */
    signed(
      body: object | string | Buffer,
      { secret = MESSAGES_SECRET, query = "", at = now() } = {},
    ) {
      const isRaw = typeof body === "string" || Buffer.isBuffer(body);
      const payload = isRaw ? body : JSON.stringify(body);
      return send(payload, signedHeaders(payload, secret, at), query);
    },
  };
}
