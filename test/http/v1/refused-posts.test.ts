import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";
import { onBothDatabases } from "../../support/database.ts";
import { hello, MESSAGES_SECRET, poster } from "./posting.ts";

onBothDatabases((engine) => {
  const clock = new TestClock("2026-03-01T10:00:10.000Z");
  let app: TestApp;
  let post: ReturnType<typeof poster>;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, env: { MESSAGES_SECRET }, background: false });
    post = poster(app, clock.now);
  });
  afterAll(() => app.dispose());

  test.each([
    ["no text", { text: undefined }],
    ["an empty text", { text: "" }],
    ["a text that is none", { text: 7 }],
    ["too long a text", { text: "x".repeat(262_145) }],
    ["an unknown field", { role: "admin" }],
    ["an unknown kind", { kind: "telepathy" }],
    ["an unknown direction", { direction: "sideways" }],
    ["no direction", { direction: undefined }],
    ["a date without offset", { sentAt: "2026-03-01T10:00:00" }],
    ["no date", { sentAt: undefined }],
    ["no id", { id: undefined }],
    ["an empty id", { id: "" }],
    ["too long an id", { id: "x".repeat(257) }],
    ["a number for an id", { id: 7 }],
    ["a channel that is none", { channel: "We b" }],
    ["an account that is none", { account: "../x" }],
    ["a payload that is a list", { payload: [1] }],
    ["too large a payload", { payload: { a: "x".repeat(32_768) } }],
    ["deleted of another type", { deleted: "yes" }],
    ["a deletion with more", { deleted: true }],
  ])("with %s nothing is taken", async (_what, fields) => {
    const answer = await post.keyed(hello({ externalUserId: "rita", ...fields }));
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_INPUT" } });
    expect(answer.body.detail).toMatch(/\w/);
  });

  test("what is missing is named as missing", async () => {
    const { body } = await post.keyed(hello({ sentAt: undefined, direction: undefined }));
    expect(body.detail).toBe("direction: is missing; sentAt: is missing");
  });

  test.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["a list", "[]"],
    ["null", "null"],
    ["no messages", '{"messages":[]}'],
    ["101 messages", JSON.stringify({ messages: Array.from({ length: 101 }, () => ({})) })],
    ["messages and more", '{"messages":[],"channel":"web"}'],
    ["nesting beyond reason", "[".repeat(100_000)],
  ])("%s is refused with a problem", async (_what, body) => {
    expect(await post.signed(body)).toMatchObject({
      status: 400,
      body: { code: "INVALID_INPUT" },
    });
  });

  test("a body beyond 1 MiB is too large", async () => {
    const { status } = await post.signed(" ".repeat(1024 * 1024 + 1));
    expect(status).toBe(413);
  });
});
