import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { isSigningSecret, sign, verifiedId } from "../../src/channels/standard-webhooks.ts";

// The specification's own example: https://github.com/standard-webhooks/standard-webhooks
const EXAMPLE = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const at = (seconds: number) => new Date(seconds * 1000);
const headers = (over: object = {}) => ({
  "webhook-id": EXAMPLE.id,
  "webhook-timestamp": `${EXAMPLE.timestamp}`,
  "webhook-signature": EXAMPLE.signature,
  ...over,
});
const verified = (
  given: Record<string, string | undefined>,
  now = at(EXAMPLE.timestamp),
  body = EXAMPLE.body,
) => verifiedId(EXAMPLE.secret, given, Buffer.from(body), now);

describe("Standard Webhooks", () => {
  test("signs the specification's example as it says", () => {
    expect(sign(EXAMPLE.secret, EXAMPLE)).toBe(EXAMPLE.signature);
    expect(verified(headers())).toBe(EXAMPLE.id);
  });

  test("takes one good signature among several, as a sender that changes its secret sends", () => {
    const both = `v1,AAAA v2,whatever ${EXAMPLE.signature}`;
    expect(verified(headers({ "webhook-signature": both }))).toBe(EXAMPLE.id);
  });

  test("refuses another body, id, time or secret, and what is older or newer than five minutes", () => {
    expect(verified(headers(), at(EXAMPLE.timestamp), "{}")).toBeUndefined();
    expect(verified(headers({ "webhook-id": "another" }))).toBeUndefined();
    const later = `${EXAMPLE.timestamp + 1}`;
    expect(verified(headers({ "webhook-timestamp": later }))).toBeUndefined();
    const other = `whsec_${randomBytes(32).toString("base64")}`;
    expect(
      verifiedId(other, headers(), Buffer.from(EXAMPLE.body), at(EXAMPLE.timestamp)),
    ).toBeUndefined();
    expect(verified(headers(), at(EXAMPLE.timestamp + 301))).toBeUndefined();
    expect(verified(headers(), at(EXAMPLE.timestamp - 301))).toBeUndefined();
    expect(verified(headers(), at(EXAMPLE.timestamp + 299))).toBe(EXAMPLE.id);
  });

  test.each([
    [{ "webhook-id": undefined }],
    [{ "webhook-id": "two\nlines" }],
    [{ "webhook-timestamp": "soon" }],
    [{ "webhook-timestamp": "" }],
    [{ "webhook-signature": "" }],
    [{ "webhook-signature": ["v1,x", "v1,y"] }],
  ])("refuses headers that are no such signature: %j", (over) => {
    expect(verified(headers(over))).toBeUndefined();
  });

  test.each([
    [EXAMPLE.secret, true],
    [randomBytes(24).toString("base64"), true],
    [`whsec_${randomBytes(23).toString("base64")}`, false],
    [`whsec_${randomBytes(65).toString("base64")}`, false],
    ["a password", false],
    ["", false],
  ])("knows a signing secret: %s", (secret, is) => {
    expect(isSigningSecret(secret)).toBe(is);
  });
});
