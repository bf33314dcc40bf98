import { expect, test } from "vitest";
import type { ExportedMessage } from "../../src/chat/imported.ts";
import { readTelegram, type TelegramOptions } from "../../src/import/telegram.ts";
import { account, chat, collect, EXPORT_SECOND, exported, inPieces } from "./exports.ts";

const DEFAULTS: TelegramOptions = { me: undefined, savedMessages: false };

async function read(file: unknown, options: Partial<TelegramOptions> = {}, size?: number) {
  const text = typeof file === "string" ? file : JSON.stringify(file, null, 1);
  const { read: items, fault } = await collect(
    readTelegram(inPieces(text, size), { ...DEFAULTS, ...options }),
  );
  const messages = items.flatMap((item): ExportedMessage[] =>
    "message" in item ? [item.message] : [],
  );
  const skipped = items.flatMap((item) => ("skipped" in item ? [item.skipped] : []));
  return { messages, skipped, fault: fault instanceof Error ? fault.message : fault };
}

const who = ({ direction, sender }: ExportedMessage) =>
  `${direction} ${sender ? `${sender.externalId} ${sender.firstName ?? "-"}` : "nobody"}`;

test("a chat between two people is the other one's: theirs inbound, the exporter's outbound", async () => {
  const { messages } = await read(
    chat("personal_chat", 5, [exported(1, 5, "Do you deliver?"), exported(2, 9, "We do.")]),
  );
  expect(messages.map(who)).toEqual(["inbound 5 Ana", "outbound 5 Ana"]);
  expect(messages[0]).toMatchObject({
    kind: "text",
    text: "Do you deliver?",
    sentAt: new Date((EXPORT_SECOND + 60) * 1000).toISOString(),
    conversationId: "export:5",
    platformMessageId: "export:5:1",
    forwarded: false,
    payload: { id: 1, from_id: "user5", text: "Do you deliver?" },
  });
  expect(messages[0]?.payload).not.toHaveProperty("text_entities");
});

test("in a chat with a bot the bot answers, and its person is whoever exported it", async () => {
  const messages = [exported(1, 77, "Welcome!"), exported(2, 9, "Hello"), exported(3, 77, "Hi")];
  const detected = await read(chat("bot_chat", 77, messages, "Shop bot"));
  expect(detected.messages.map(who)).toEqual([
    "outbound 9 -",
    "inbound 9 Person 9",
    "outbound 9 -",
  ]);
  expect(detected.messages.map(({ text }) => text)).toEqual(["Welcome!", "Hello", "Hi"]);
  const told = await read(chat("bot_chat", 77, [exported(1, 77, "Welcome!")]), { me: 8 });
  expect(told.messages.map(who)).toEqual(["outbound 8 -"]);
  const silent = await read(chat("bot_chat", 77, [exported(1, 77, "Welcome!")]));
  expect(silent.skipped).toEqual([expect.stringContaining("--me")]);
});

test("in groups everybody speaks for themselves, the exporter for us, channels for nobody", async () => {
  const group = [
    exported(1, 5, "a"),
    exported(2, 9, "b"),
    exported(3, null, "of a deleted account"),
    exported(4, 0, "c", { from_id: "channel123" }),
    exported(-999_999_999, 6, "from before", { date_unixtime: `${EXPORT_SECOND}` }),
  ];
  const { messages } = await read(
    account(
      9,
      [
        chat("private_supergroup", 123_456, group),
        chat("private_group", 44, [exported(1, 5, "d")]),
      ],
      [
        chat("public_channel", 1_987_654_321, [
          exported(9, 0, "e", { from_id: "channel1987654321" }),
        ]),
      ],
    ),
  );
  expect(messages.map(who)).toEqual([
    "inbound 5 Person 5",
    "outbound nobody",
    "inbound 404 -",
    "inbound nobody",
    "inbound 6 Person 6",
    "inbound 5 Person 5",
    "inbound nobody",
  ]);
  // A bot in the same supergroup sees these ids; those of other groups and of private chats are each account's own.
  expect(messages.map(({ platformMessageId }) => platformMessageId)).toEqual([
    "-1000000123456:1",
    "-1000000123456:2",
    "-1000000123456:3",
    "-1000000123456:4",
    "export:123456:-999999999",
    "export:44:1",
    "-1001987654321:9",
  ]);
  const unknown = await read(chat("private_group", 44, [exported(1, 9, "f")]));
  expect(unknown.messages.map(who)).toEqual(["inbound 9 Person 9"]);
});

test("messages to oneself and chats of other kinds are left out unless asked for", async () => {
  const chats = [
    chat("saved_messages", 9, [exported(1, 9, "a note")]),
    chat("verify_codes", 3, [exported(2, 3, "12345")]),
  ];
  const { messages, skipped } = await read(account(9, chats));
  expect(messages).toEqual([]);
  expect(skipped).toEqual([expect.stringMatching(/^saved messages/), "a chat of another kind"]);
  const asked = await read(account(9, chats), { savedMessages: true });
  expect(asked.messages.map(who)).toEqual(["inbound 9 Person 9"]);
});

test("every kind is told by its fields, and texts in pieces become one", async () => {
  const kinds: readonly (readonly [object, string])[] = [
    [{ media_type: "sticker", file: "(File not included.)", sticker_emoji: "x" }, "sticker"],
    [{ media_type: "video_message", file: "a.mp4" }, "video_note"],
    [{ media_type: "voice_message", file: "a.ogg" }, "voice"],
    [{ media_type: "animation", file: "a.mp4" }, "animation"],
    [{ media_type: "video_file", file: "a.mp4" }, "video"],
    [{ media_type: "audio_file", file: "a.mp3" }, "audio"],
    [{ file: "a.pdf", mime_type: "application/pdf" }, "document"],
    [{ photo: "photos/1.jpg" }, "photo"],
    [{ contact_information: { phone_number: "+0" } }, "contact"],
    [{ location_information: { latitude: 1, longitude: 2 } }, "location"],
    [{ place_name: "Café", location_information: { latitude: 1, longitude: 2 } }, "venue"],
    [{ poll: { question: "?", answers: [] } }, "poll"],
    [{ game_title: "Chess" }, "game"],
    [{ type: "service", action: "phone_call", actor: "Ana", actor_id: "user5" }, "service"],
    [{ type: "unsupported" }, "unsupported"],
    [{}, "unsupported"],
  ];
  const { messages } = await read(
    chat("personal_chat", 5, [
      ...kinds.map(([fields], at) => exported(at + 1, 5, "", fields)),
      exported(99, 5, ["See ", { type: "link", text: "example.com" }, " now"], { photo: "p.jpg" }),
    ]),
  );
  expect(messages.slice(0, -1).map(({ kind, text }) => [kind, text])).toEqual(
    kinds.map(([, kind]) => [kind, null]),
  );
  expect(messages.at(-1)).toMatchObject({ kind: "photo", text: "See example.com now" });
});

test("forwards are marked, also of accounts that are gone; edits carry their date", async () => {
  const { messages } = await read(
    chat("personal_chat", 5, [
      exported(1, 5, "a", { forwarded_from: "Somebody" }),
      exported(2, 5, "b", { forwarded_from: null }),
      exported(3, 5, "c", { edited_unixtime: `${EXPORT_SECOND + 999}` }),
    ]),
  );
  expect(messages.map(({ forwarded }) => forwarded)).toEqual([true, true, false]);
  expect(messages.map(({ editedAt }) => editedAt)).toEqual([
    undefined,
    undefined,
    new Date((EXPORT_SECOND + 999) * 1000).toISOString(),
  ]);
});

test("the answer to somebody who opts out is out too, until they speak again", async () => {
  const { messages } = await read(
    chat("personal_chat", 5, [
      exported(1, 5, "My secret #noremember"),
      exported(2, 9, "Your secret is safe"),
      exported(3, 5, "Thanks"),
      exported(4, 9, "Welcome"),
    ]),
  );
  expect(messages.map(({ optedOut = false }) => optedOut)).toEqual([true, true, false, false]);
});

test("what has no usable id, date or size is skipped, and the rest goes on", async () => {
  const { messages, skipped } = await read(
    JSON.stringify(
      chat("personal_chat", 5, [
        "no object",
        exported(1, 5, "no date", { date_unixtime: "0", date: "1970-01-01T00:00:00" }),
        exported(2, 5, "no date at all", { date_unixtime: undefined, date: undefined }),
        exported(3, 5, "x".repeat(300_000)),
        exported(4, 5, "older exports", { date_unixtime: undefined, date: "2019-05-01T10:00:00" }),
        exported(0, 5, "id 0"),
        exported(77_777, 5, "an id with more digits than JavaScript has"),
      ]),
    ).replace('"id":77777', '"id":9007199254740993'),
    {},
    50_000,
  );
  expect(skipped).toEqual([
    "no message",
    "no date",
    "no date",
    "too large",
    "no usable id",
    "no usable id",
  ]);
  expect(messages.map(({ sentAt }) => sentAt)).toEqual(["2019-05-01T10:00:00.000Z"]);
});

test("characters that no database stores become U+FFFD, cut anywhere between two chunks", async () => {
  const text = String.raw`{"name":"A\u0000","type":"personal_chat","id":5,"messages":[{"id":1,"type":"message","date_unixtime":"1772359200","from":"x","from_id":"user5","text":"a\u0000b\ud800c \ud83d\ude00 é","__proto__":{"x":"\udfff"}}]}`;
  for (const size of [1, 2, 3, 1000]) {
    const { messages, fault } = await read(text, {}, size);
    expect(fault).toBeUndefined();
    expect(messages[0]?.text).toBe("a\uFFFDb\uFFFDc 😀 é");
    expect(messages[0]?.sender?.firstName).toBe("A\uFFFD");
    expect(JSON.stringify(messages).isWellFormed()).toBe(true);
  }
});

test("a file that ends in the middle gives what came before, then says so", async () => {
  const whole = JSON.stringify(
    chat("personal_chat", 5, [exported(1, 5, "a"), exported(2, 5, "b")]),
  );
  const { messages, fault } = await read(whole.slice(0, -40));
  expect(messages.map(({ text }) => text)).toEqual(["a"]);
  expect(fault).toMatch(/^the file ends in the middle/);
  const broken = await read(whole.replace('"id":2', '"id":%2'));
  expect(broken.messages.map(({ text }) => text)).toEqual(["a"]);
});

test.each([
  ["nothing", ""],
  ["a list", "[1,2]"],
  ["a number", "42"],
  ["a page", "<!DOCTYPE html><p>"],
  ["other JSON", '{"name":"souvenir","type":"module"}'],
])("%s is no export", async (_name, text) => {
  expect((await read(text)).fault).toMatch(/^it is no Telegram export/);
});

test("a value without an end is refused before it fills the memory", async () => {
  async function* endless(start: string, more: string) {
    yield Buffer.from(start);
    for (let chunk = 0; chunk < 1000; chunk++) yield Buffer.from(more.repeat(65_536));
  }
  const header = '{"name":"A","type":"personal_chat","id":5,"messages":[{"id":1,';
  for (const [start, more] of [
    [`${header}"text":"`, "x"],
    [`${header}"text":[`, "1,"],
    [`${header}"text":`, "["],
  ] as const) {
    const { fault } = await collect(readTelegram(endless(start, more), DEFAULTS));
    expect(String(fault)).toMatch(/more than 16 MB|nests deeper/);
  }
});
