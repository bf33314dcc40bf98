import fc from "fast-check";
import { expect, test } from "vitest";
import { parseUpdate, unreadableUpdate } from "../../src/telegram/update.ts";
import { ana, anaChat, archived, inGroup, message, RECEIVED, update } from "./fixtures.ts";

const KINDS = [
  "message",
  "edited_message",
  "channel_post",
  "business_message",
  "deleted_business_messages",
  "guest_message",
  "message_reaction",
  "callback_query",
  "my_chat_member",
  "poll",
  "some_future_update",
];

test("an unknown kind of update is kept whole, under the person it names", () => {
  const future = { some_future_update: { from: ana, chat: anaChat, x: 1 } };
  expect(update(future)).toMatchObject({
    updateId: 1001,
    dedupeKey: "1001",
    updateKind: "some_future_update",
    actions: [
      {
        type: "raw",
        reason: "unknown",
        message: {
          kind: "unsupported",
          sentAt: RECEIVED,
          sender: { externalId: "5000000001" },
          payload: { update_id: 1001, ...future },
        },
      },
    ],
  });
});

test("an unknown field beside a message does not hide the message", () => {
  expect(archived({ from_the_future: 1, message: message({ text: "hi" }) })).toMatchObject({
    text: "hi",
  });
});

test.each([
  ["a chat id beyond 52 bits", message({ chat: { id: 2 ** 53, type: "private" } })],
  ["a sender id beyond 52 bits", message({ from: { ...ana, id: 2 ** 53 } })],
  ["a sender id of 53 bits", message({ from: { ...ana, id: 2 ** 52 + 1 } })],
  ["a sender id in a string", message({ from: { ...ana, id: "5000000001" } })],
  ["a negative sender id", message({ from: { ...ana, id: -5 } })],
  ["no message id", message({ message_id: undefined })],
  ["a fractional message id", message({ message_id: 1.5 })],
  ["no chat", message({ chat: undefined })],
  ["a connection that is no string", message({ business_connection_id: 5 })],
  ["an endless connection id", message({ business_connection_id: "b".repeat(200) })],
  ["null for a message", null],
  ["a list for a message", [1]],
])("a message with %s is kept raw and guessed to be nobody else's", (_fault, value) => {
  const [first, ...rest] = update({ message: value }).actions;
  expect(rest).toEqual([]);
  expect(first).toMatchObject({
    type: "raw",
    reason: "malformed",
    message: { kind: "unsupported", text: null },
  });
  const sender = first?.type === "raw" ? first.message.sender?.externalId : "";
  expect([undefined, "5000000001"]).toContain(sender);
  if (_fault.includes("sender")) expect(sender).toBe(undefined);
});

test("redeliveries have one key, also without an update id", () => {
  expect(update({ message: message({ text: "a" }) }).dedupeKey).toBe("1001");
  const anonymous = (text: string) => parseUpdate({ message: message({ text }) }, RECEIVED);
  expect(anonymous("a").updateId).toBeNull();
  expect(anonymous("a").dedupeKey).toBe(anonymous("a").dedupeKey);
  expect(anonymous("a").dedupeKey).not.toBe(anonymous("b").dedupeKey);
});

test("messages of one second that arrive in reverse keep that second, for the archive to order", () => {
  const [late, early] = [31, 30].map((id) =>
    archived({ message: message({ message_id: id, text: "x" }) }, id),
  );
  expect(late?.sentAt).toEqual(early?.sentAt);
  expect(late?.platformMessageId).not.toBe(early?.platformMessageId);
});

test.each([null, 5, "text", [1, 2], true])("a body that is %j is kept as unreadable", (raw) => {
  const parsed = parseUpdate(raw, RECEIVED);
  expect(parsed).toMatchObject({
    updateId: null,
    updateKind: null,
    actions: [{ type: "raw", reason: "unreadable", message: { payload: { value: raw } } }],
  });
});

test("a body that is no JSON is kept as the text that it is", () => {
  const { actions, dedupeKey } = unreadableUpdate(
    { text: '{"update_id":1,\0', bytes: 16 },
    RECEIVED,
  );
  expect(actions).toMatchObject([
    { message: { payload: { body: '{"update_id":1,\uFFFD', bytes: 16 } } },
  ]);
  expect(dedupeKey).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("what an update is called never brings a person's words into ids or logs", () => {
  const parsed = update({ "My secret words": { from: ana } });
  expect(parsed.updateKind).toBe("other");
  expect(archived({ "My secret words": {} })).toMatchObject({ conversationId: "update:other" });
});

const anyUpdate = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true }),
  fc
    .tuple(fc.constantFrom(...KINDS), fc.jsonValue({ stringUnit: "binary" }))
    .map(([kind, value]) => ({ update_id: 1, [kind]: value })),
  // Real shapes with one field replaced by anything find more than random JSON does.
  fc
    .tuple(
      fc.constantFrom(...KINDS),
      fc.constantFrom(
        ...Object.keys(inGroup({ text: 1, edit_date: 1, rich_message: 1, user: 1, id: 1 })),
      ),
      fc.oneof(fc.jsonValue({ stringUnit: "binary" }), fc.string({ unit: "binary" }), fc.integer()),
    )
    .map(([kind, field, value]) => ({
      update_id: 1,
      [kind]: message({ text: "x", [field]: value }),
    })),
);

test("any JSON at all is kept: exactly one row, storable strings, a date that can be true, short ids", () => {
  fc.assert(
    fc.property(anyUpdate, (raw) => {
      const { actions } = parseUpdate(raw, RECEIVED);
      const rows = actions.filter((action) => action.type === "message" || action.type === "raw");
      expect(rows).toEqual([actions[0]]);
      for (const { message: row } of rows) {
        const json = JSON.stringify(row);
        expect(json).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        expect(row.sentAt.getUTCFullYear()).toBeGreaterThan(2012);
        expect(row.sentAt.getUTCFullYear()).toBeLessThan(2039);
        expect(row.conversationId.length + row.platformMessageId.length).toBeLessThan(400);
        if (row.sender) expect(row.sender.externalId).toMatch(/^[1-9]\d{0,15}$/);
      }
    }),
    { numRuns: 2000 },
  );
});
