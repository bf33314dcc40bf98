import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AppError } from "../../src/errors.ts";
import { parsePersonRef, UserId } from "../../src/users/person.ts";

const parse = (userId: string) => parsePersonRef(userId, "telegram");
const codeOf = (userId: string) => {
  try {
    parse(userId);
    return undefined;
  } catch (error) {
    return (error as AppError).code;
  }
};

const channel = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,62}$/);
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|[^\S ]/u;
/** What a platform may use as an id: anything that can be seen, without space at its ends. */
const externalId = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 256 })
  .filter((id) => id.trim() === id && !INVISIBLE.test(id) && [...id].length <= 256);
const uuid = fc.uuid();

describe("a userId", () => {
  test("of the form channel:externalId splits at the first colon, and keeps every character of both", () => {
    fc.assert(
      fc.property(channel, externalId, (name, id) => {
        expect(parse(`${name}:${id}`)).toEqual({ channel: name, externalId: id });
        expect(UserId.safeParse(`${name}:${id}`).success).toBe(true);
      }),
    );
  });

  test("without a colon is an id on the default channel", () => {
    fc.assert(
      fc.property(
        externalId.filter((id) => !id.includes(":")),
        (id) => {
          expect(parse(id)).toEqual({ channel: "telegram", externalId: id });
        },
      ),
    );
  });

  test("in the form of a uuid is always an internal id, in lower case; after a channel it never is", () => {
    fc.assert(
      fc.property(uuid, channel, (id, name) => {
        expect(parse(id)).toEqual({ internalId: id });
        expect(parse(id.toUpperCase())).toEqual({ internalId: id });
        expect(parse(`${name}:${id}`)).toEqual({ channel: name, externalId: id });
      }),
    );
  });

  test("names one person and no other: two that are read the same are written the same", () => {
    const reference = fc.oneof(
      externalId,
      fc.tuple(channel, externalId).map(([name, id]) => `${name}:${id}`),
      uuid,
    );
    const nameOf = (userId: string) => {
      try {
        return JSON.stringify(parse(userId));
      } catch {
        return undefined;
      }
    };
    fc.assert(
      fc.property(reference, reference, (a, b) => {
        const [one, two] = [nameOf(a), nameOf(b)];
        const written = (userId: string) => (userId.includes(":") ? userId : `telegram:${userId}`);
        if (one !== undefined && one === two) expect(written(a)).toBe(written(b));
      }),
    );
  });

  test("is read or refused as INVALID_INPUT, whatever it is; never anything else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 700 }), (userId) => {
        expect([undefined, "INVALID_INPUT"]).toContain(codeOf(userId));
      }),
    );
  });

  test.each([
    ["a:b and c", "a:b", "c", { channel: "a", externalId: "b" }],
    ["a and b:c", "a", "b:c", { channel: "telegram", externalId: "a" }],
    [
      "a name of a vector namespace",
      "facts:org:1",
      "org:1",
      { channel: "facts", externalId: "org:1" },
    ],
  ])("joins nothing by accident: %s", (_what, userId, other, expected) => {
    expect(parse(userId)).toEqual(expected);
    expect(parse(userId)).not.toEqual(parse(other));
  });

  test("tells apart what only looks alike", () => {
    const looks = [
      "jane-doe",
      "jane_doe",
      "jane.doe",
      "Jane-doe",
      "jane‐doe",
      "јane-doe",
      "u1",
      "u10",
      "U1",
      "0001",
      "1",
    ];
    expect(new Set(looks.map((id) => JSON.stringify(parse(id)))).size).toBe(looks.length);
  });

  test.each([
    ["nothing", ""],
    ["no id after the channel", "telegram:"],
    ["no channel", ":1"],
    ["a channel in capitals", "Telegram:1"],
    ["a channel with a space", "tele gram:1"],
    ["a channel that is a path", "../x:1"],
    ["a channel of 64 characters", `${"c".repeat(64)}:1`],
    ["257 characters", "1".repeat(257)],
    ["257 characters beyond the first plane", "👍".repeat(257)],
    ["a space at its end", "jane-doe "],
    ["a space at its beginning", "telegram: 1"],
    ["a no-break space at its end", "1\u00a0"],
    ["a tab", "a\tb"],
    ["a line break", "a\nb"],
    ["a line separator", "a\u2028b"],
    ["a paragraph separator", "a\u2029b"],
    ["U+0000", "a\u0000b"],
    ["an escape sequence", "a\u001b[31m"],
    ["a zero-width space", "a\u200bb"],
    ["a right-to-left override", "a\u202eb"],
    ["a byte order mark", "a\ufeffb"],
    ["a tag character", "a\u{e0041}"],
    ["a private character", "a\ue000"],
    ["a Hangul filler", "a\u115fb"],
    ["nothing but a Hangul filler", "\u3164"],
    ["a grapheme joiner", "a\u034fb"],
    ["a variation selector", "a\ufe0f"],
    ["a Mongolian variation selector", "a\u180bb"],
    ["an inherent vowel that is never shown", "a\u17b4b"],
    ["a blank of Braille", "\u2800"],
    ["a no-break space within", "a\u00a0b"],
    ["an ideographic space within", "a\u3000b"],
    ["half of a surrogate pair", "a\ud83d"],
  ])("with %s is refused", (_what, userId) => {
    expect(codeOf(userId)).toBe("INVALID_INPUT");
  });

  test.each([
    ["256 characters beyond the first plane", "👍".repeat(256)],
    ["accents, scripts and signs", "jané·дое·田中·@x+y/z?#%_\\'\"--"],
    ["a uuid with something around it", "{01900000-0000-7000-8000-000000000000}"],
    ["a uuid without its hyphens", "01900000000070008000000000000000"],
    ["a space within", "jane doe"],
  ])("with %s is an external id as it stands", (_what, userId) => {
    expect(UserId.safeParse(userId).success).toBe(true);
    expect(parse(userId)).toEqual({ channel: "telegram", externalId: userId });
  });

  test("is limited before anything looks at it", () => {
    expect(UserId.safeParse("1".repeat(321)).success).toBe(false);
    expect(UserId.safeParse("").success).toBe(false);
  });
});
