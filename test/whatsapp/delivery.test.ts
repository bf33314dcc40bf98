import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDelivery, unreadableDelivery } from "../../src/whatsapp/delivery.ts";
import {
  ANA_ID,
  ANA_NUMBER,
  actionsOf,
  ana,
  archived,
  delivery,
  entry,
  message,
  PHONE,
  RECEIVED,
} from "./fixtures.ts";

const parse = (value: unknown) => parseDelivery(value, RECEIVED);
const actions = (value: unknown) => parse(value).flatMap((item) => item.actions);

test("several entries, changes and messages of one delivery are items of their own, in order", () => {
  const other = "106540352242999";
  const body = {
    entry: [
      entry({ messages: [message({ id: "a" }), message({ id: "b" })] }),
      entry({ statuses: [{ id: "c", status: "read" }], messages: [message({ id: "d" })] }),
      entry({ messages: [message({ id: "a" })] }, "messages", other),
    ],
  };
  const ids = actions(body).map((action) =>
    action.type === "message" ? action.message.platformMessageId : action.type,
  );
  expect(ids).toEqual([`${PHONE}:a`, `${PHONE}:b`, `${PHONE}:d`, "status", `${other}:a`]);
  expect(new Set(parse(body).map(({ dedupeKey }) => dedupeKey)).size).toBe(5);
});

test("an item is the same in whatever delivery it comes again", () => {
  const one = message({ id: "a" });
  const [alone] = parse(delivery({ messages: [one] }));
  const among = parse({ entry: [entry({ messages: [message(), one] })] });
  expect(among.map(({ dedupeKey }) => dedupeKey)).toContain(alone?.dedupeKey);
  const [onOther] = parse(delivery({ messages: [one] }, { phone: "99" }));
  expect(onOther?.dedupeKey).not.toBe(alone?.dedupeKey);
});

describe("whose a message is", () => {
  const senderOf = (fields: object, contacts: unknown[] = []) => {
    const [first] = actions(delivery({ contacts, messages: [message(fields)] }));
    return first?.type === "message" ? first.message.sender : first?.type;
  };
  const hidden = { from: undefined, from_user_id: ANA_ID };
  const old = { from: ANA_NUMBER, from_user_id: undefined };

  test.each([
    ["an id without a number", hidden, [], { externalId: ANA_ID }],
    ["a number without an id", old, [], { externalId: ANA_NUMBER }],
    ["a number with a plus", { ...old, from: `+${ANA_NUMBER}` }, [], { externalId: ANA_NUMBER }],
    ["both", {}, [], { externalId: ANA_ID, phoneNumber: ANA_NUMBER }],
    [
      "a number, with the id in its contact",
      old,
      [ana],
      { externalId: ANA_ID, phoneNumber: ANA_NUMBER, username: "ana.shops", firstName: "Ana" },
    ],
    [
      "an id, with the number in its contact",
      hidden,
      [ana],
      { externalId: ANA_ID, phoneNumber: ANA_NUMBER, username: "ana.shops", firstName: "Ana" },
    ],
    [
      "a number that differs from the lone contact's",
      { from: "5511955550101", from_user_id: undefined },
      [{ wa_id: "551155550101", profile: { name: "Bia" } }],
      { externalId: "5511955550101", firstName: "Bia" },
    ],
    [
      "nothing, with a lone contact",
      { from: undefined, from_user_id: undefined },
      [{ user_id: ANA_ID }],
      { externalId: ANA_ID },
    ],
    ["somebody else than the lone contact", hidden, [{ user_id: "US.2" }], { externalId: ANA_ID }],
    [
      "one of several contacts",
      { from: undefined, from_user_id: "US.2" },
      [ana, { user_id: "US.2", profile: { name: "Ben" } }],
      { externalId: "US.2", firstName: "Ben" },
    ],
    ["nothing at all", { from: undefined, from_user_id: undefined }, [], undefined],
    ["a number of another type", { from: 16_505_550_101 }, [], "raw"],
    ["no number at all", { from: "Ana" }, [], "raw"],
    ["an id that is a number", { from_user_id: ANA_NUMBER }, [], "raw"],
    ["an id with a space", { from_user_id: "US. 1" }, [], "raw"],
    ["an id without end", { from_user_id: `US.${"1".repeat(300)}` }, [], "raw"],
    ["a message without an id", { id: undefined }, [], "raw"],
    ["a message with a number for an id", { id: 7 }, [], "raw"],
  ])("%s", (_what, fields, contacts, sender) => {
    expect(senderOf(fields, contacts)).toEqual(sender);
  });

  test("in a group it is the sender's, in the group's conversation", () => {
    const group_id = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD";
    expect(archived({ group_id })).toMatchObject({
      conversationId: `${group_id}:${PHONE}`,
      sender: { externalId: ANA_ID },
    });
  });
});

describe("an id that changes", () => {
  const system = (fields: object, from: object = {}) =>
    actionsOf({
      type: "system",
      text: undefined,
      from_user_id: undefined,
      system: fields,
      ...from,
    });

  test("a new number and its id belong to whoever had the old number", () => {
    const change = { type: "user_changed_number", wa_id: "12195555358", user_id: "US.2" };
    expect(system(change)).toMatchObject([
      {
        message: {
          kind: "service",
          text: null,
          sender: { externalId: ANA_NUMBER },
          conversationId: `${ANA_NUMBER}:${PHONE}`,
        },
      },
      { type: "renamed", earlier: [ANA_NUMBER], ids: ["US.2", "12195555358"] },
    ]);
  });

  test("a message that names the new id as its sender is not a new person's", () => {
    const change = { type: "user_changed_number", wa_id: "12195555358", user_id: "US.2" };
    const [row, renamed] = system(change, { from_user_id: "US.2" });
    expect(row).toMatchObject({ message: { sender: { externalId: ANA_NUMBER } } });
    expect(renamed).toMatchObject({ earlier: [ANA_NUMBER] });
  });

  test.each([
    [{ previous_user_id: ANA_ID, user_id: "US.2" }, { from: undefined }, [ANA_ID], ["US.2"]],
    [{ user_id: "US.2" }, { from: undefined, from_user_id: ANA_ID }, [ANA_ID], ["US.2"]],
    [{ new_wa_id: "12195555358" }, {}, [ANA_NUMBER], ["12195555358"]],
  ])("%j", (fields, from, earlier, ids) => {
    const type = "new_wa_id" in fields ? "customer_changed_number" : "user_changed_user_id";
    expect(system({ type, ...fields }, from)[1]).toEqual({ type: "renamed", earlier, ids });
  });

  test("outside of a conversation it is told in a list of its own", () => {
    const update = {
      wa_id: "12195555358",
      detail: "User id has been updated.",
      user_id: { previous: ANA_ID, current: "US.2" },
      timestamp: "1772359200",
    };
    const body = delivery({ user_id_update: [update] }, { field: "user_id_update" });
    expect(actions(body)).toEqual([
      { type: "renamed", earlier: [ANA_ID], ids: ["US.2", "12195555358"] },
    ]);
    const broken = { ...update, user_id: { previous: "", current: "US.2" } };
    expect(actions(delivery({ user_id_update: [broken] }))).toMatchObject([{ type: "raw" }]);
  });

  test("a system message about something else changes nobody", () => {
    expect(system({ type: "user_identity_changed", user_id: "US.2" })).toHaveLength(1);
    expect(system({ type: "user_changed_number" }, { from: undefined })).toHaveLength(1);
  });
});

test.each([
  ["sent", "sent"],
  ["delivered", "delivered"],
  ["read", "read"],
  ["played", "read"],
  ["failed", "failed"],
])("the status %s is told of a message, and makes none", (status, told) => {
  const report = { id: "wamid.1", status, timestamp: "1772359200", recipient_id: ANA_NUMBER };
  expect(actions(delivery({ statuses: [report] }))).toEqual([
    { type: "status", platformMessageId: `${PHONE}:wamid.1`, status: told },
  ]);
});

test("a status that this version does not know changes nothing, one without a message is kept raw", () => {
  expect(actions(delivery({ statuses: [{ id: "wamid.1", status: "warning" }] }))).toEqual([]);
  expect(actions(delivery({ statuses: [{ status: "read" }, null, "x"] }))).toMatchObject([
    { type: "raw", reason: "malformed" },
    { type: "raw", reason: "malformed" },
    { type: "raw", reason: "malformed" },
  ]);
});

test.each([
  ["no object", [1, "x"], "unreadable"],
  ["no entries", { object: "whatsapp_business_account" }, "unreadable"],
  ["entries of another type", { entry: { changes: [] } }, "unreadable"],
  ["changes of another type", { entry: [{ changes: "x" }, 7] }, "unreadable"],
  ["a change that is none", { entry: [{ changes: [7] }] }, "unknown"],
  [
    "another field",
    delivery({ event: "VERIFIED_ACCOUNT" }, { field: "account_update" }),
    "unknown",
  ],
  ["an error of the account", delivery({ errors: [{ code: 130_429 }] }), "unknown"],
  ["no phone number", { entry: [{ changes: [{ value: { messages: [message()] } }] }] }, "unknown"],
  ["a phone number that is none", delivery({ messages: [message()] }, { phone: "a:b" }), "unknown"],
  ["a message of another type", delivery({ messages: ["x"] }), "malformed"],
])("%s is kept raw, once", (_what, body, reason) => {
  const items = parse(body);
  expect(items.map((item) => item.actions)).toMatchObject([
    [{ type: "raw", reason, message: { kind: "unsupported", direction: "inbound" } }],
  ]);
  expect(items[0]?.actions[0]).not.toHaveProperty("message.sender");
});

test("a body that is no JSON is kept with its length", () => {
  const [item] = unreadableDelivery({ text: "{\0", bytes: 2 }, RECEIVED);
  expect(item?.actions).toMatchObject([
    { type: "raw", message: { payload: { body: "{\uFFFD", bytes: 2 } } },
  ]);
});

test("what was said before, and the address book, are not kept unasked", () => {
  const past = {
    history: [{ threads: [{ messages: [message({ text: { body: "long ago" } })] }] }],
  };
  const book = { state_sync: [{ contact: { full_name: "long ago" } }] };
  for (const value of [past, book]) {
    const kept = JSON.stringify(parse(delivery(value, { field: "history" })));
    expect(kept).toContain("[removed]");
    expect(kept).not.toContain("long ago");
  }
});

test("any JSON at all is kept: storable strings, dates that can be true, short ids", () => {
  const odd = fc.jsonValue({ maxDepth: 4 });
  const value = fc.record(
    { messages: fc.array(odd), statuses: fc.array(odd), contacts: odd, user_id_update: odd },
    { requiredKeys: [] },
  );
  const broken = fc.record({
    id: fc.oneof(odd, fc.constant("wamid.1")),
    type: fc.oneof(
      odd,
      fc.constantFrom("text", "edit", "revoke", "system", "__proto__", "constructor"),
    ),
    text: odd,
    edit: odd,
    system: odd,
    context: odd,
    timestamp: odd,
  });
  const body = fc.oneof(
    odd,
    value.map((changed) => delivery(changed)),
    fc.array(broken).map((messages) => delivery({ messages })),
  );
  fc.assert(
    fc.property(body, (json) => {
      for (const { dedupeKey, actions: does } of parse(json)) {
        expect(dedupeKey.length).toBeLessThan(200);
        for (const action of does) {
          if (action.type !== "message" && action.type !== "raw") continue;
          const { sentAt, platformMessageId, conversationId, payload } = action.message;
          expect(sentAt.getTime()).toBeGreaterThan(0);
          expect(platformMessageId.length + conversationId.length).toBeLessThan(1000);
          expect(JSON.stringify(payload)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
        }
      }
    }),
    { numRuns: 300 },
  );
});
