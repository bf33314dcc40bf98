import fc from "fast-check";
import { expect, test } from "vitest";
import { parseUpdate, unreadableUpdate } from "../../src/telegram/update.ts";
import {
  ana,
  anaChat,
  archived,
  channel,
  DATE,
  group,
  inGroup,
  message,
  RECEIVED,
  update,
} from "./fixtures.ts";

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
    dedupeKey: expect.stringMatching(/^1001:[0-9a-f]{32}$/),
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
  ["a chat id beyond 53 bits", message({ chat: { id: 2 ** 53, type: "private" } })],
  ["a sender id beyond 53 bits", message({ from: { ...ana, id: 2 ** 53 } })],
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

test("redeliveries have one key, another update under the same id has another, also without an id", () => {
  const keyOf = (value: object, id?: number) => update(value, id).dedupeKey;
  const first = message({ text: "a" });
  const reordered = Object.fromEntries(Object.entries(first).reverse());
  expect(keyOf({ message: reordered })).toBe(keyOf({ message: first }));
  expect(keyOf({ message: message({ text: "b" }) })).not.toBe(keyOf({ message: first }));
  expect(keyOf({ message: first }, 1002)).not.toBe(keyOf({ message: first }));
  const polled = (id: string) => archived({ poll: { id, question: "Tea?" } }).platformMessageId;
  expect(polled("1")).toBe(polled("1"));
  expect(polled("1")).not.toBe(polled("2"));
  const anonymous = (text: string) => parseUpdate({ message: message({ text }) }, RECEIVED);
  expect(anonymous("a").updateId).toBeNull();
  expect(anonymous("a").dedupeKey).toBe(anonymous("a").dedupeKey);
  expect(anonymous("a").dedupeKey).not.toBe(anonymous("b").dedupeKey);
});

test("messages of one second that arrive in reverse keep that second: the archive has them as they came", () => {
  const [late, early] = [31, 30].map((id) =>
    archived({ message: message({ message_id: id, text: "x" }) }, id),
  );
  expect(late?.sentAt).toEqual(early?.sentAt);
  expect(late?.platformMessageId).not.toBe(early?.platformMessageId);
});

test("what Telegram gives no date has the second in which it came, as what has one", () => {
  const late = new Date(RECEIVED.getTime() + 950);
  for (const value of [
    { callback_query: { id: "c1", from: ana, chat_instance: "x", data: "ok" } },
    { message: message({ text: "x", date: 0 }) },
    { some_future_update: {} },
    { edited_message: message({ text: "x" }) },
  ]) {
    const [first] = parseUpdate({ update_id: 1, ...value }, late).actions;
    if (first?.type !== "message" && first?.type !== "raw") throw new Error("nothing archived");
    const { sentAt, editedAt } = first.message;
    expect(editedAt ?? sentAt).toEqual(RECEIVED);
  }
  const [body] = unreadableUpdate({ text: "{", bytes: 1 }, late).actions;
  expect(body).toMatchObject({ message: { sentAt: RECEIVED } });
});

test("an optional field that is null says no more than one that is missing", () => {
  const optional = [
    ...["message_thread_id", "is_topic_message", "direct_messages_topic", "business_connection_id"],
    ...["guest_query_id", "ephemeral_message_id", "from", "sender_chat", "sender_business_bot"],
    ...["edit_date", "migrate_to_chat_id", "migrate_from_chat_id", "forward_origin", "caption"],
    ...["photo", "reply_to_message", "rich_message", "forum_topic_closed"],
  ];
  const nulls = Object.fromEntries(optional.map((field) => [field, null]));
  const spare = { is_bot: null, username: null, first_name: null };
  const post = { message_id: 5, date: DATE, chat: channel, text: "news" };
  for (const [full, lean] of [
    [{ ...message({ text: "hi" }), from: { ...spare, id: 7 } }, { from: { id: 7 } }],
    [{ ...nulls, ...message({ text: "hi" }) }, {}],
    [{ ...message({ text: "hi" }), ...nulls }, { from: undefined }],
  ] as const) {
    const { payload: _, ...row } = archived({ message: full });
    const { payload: __, ...expected } = archived({ message: message({ text: "hi", ...lean }) });
    expect(row).toEqual(expected);
  }
  expect(archived({ channel_post: { ...post, ...nulls, edit_date: null } })).toMatchObject({
    kind: "text",
    text: "news",
    conversationId: `${channel.id}`,
  });
  const event = { chat: group, user: ana, date: DATE, new_reaction: [] };
  const absent = { from: null, message: null, message_id: null, chat_instance: null, id: null };
  expect(archived({ message_reaction: { ...event, ...absent } })).toMatchObject({
    sender: { externalId: `${ana.id}` },
    conversationId: `${group.id}`,
  });
});

test("an update that names every kind it is not as null is the kind that it is", () => {
  const others = Object.fromEntries(KINDS.map((kind) => [kind, null]));
  const parsed = update({ ...others, edited_message: message({ text: "hi", edit_date: DATE }) });
  expect(parsed).toMatchObject({
    updateKind: "edited_message",
    actions: [{ type: "message", isEdit: true, message: { text: "hi" } }],
  });
  expect(update({ ...others, poll: null, new_kind: { x: 1 } }).updateKind).toBe("new_kind");
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
