import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Image, TextFormat } from "../../src/chat/outgoing.ts";
import { SendFailure } from "../../src/chat/sender.ts";
import type { FormattedText } from "../../src/telegram/formatted-text.ts";
import { fromHtml } from "../../src/telegram/html.ts";
import { fromMarkdown } from "../../src/telegram/markdown.ts";
import { TelegramSender } from "../../src/telegram/outbound.ts";
import { split } from "../../src/telegram/splitting.ts";
import { BotApiDouble } from "../support/bot-api-double.ts";

/** Each style with what it covers. */
const stylesOf = ({ text, entities }: FormattedText) =>
  entities.map((entity) => {
    const covered = text.slice(entity.offset, entity.offset + entity.length);
    return "url" in entity ? [entity.type, covered, entity.url] : [entity.type, covered];
  });

describe("markup becomes text with entities", () => {
  test("Markdown", () => {
    const read = fromMarkdown(
      "# Hi *you*\n\na **b** `c<` [l](https://x.y/z) [no](javascript:x) 2 * 3 * 4 &amp;\nnext\n\n" +
        "1. one\n2. two\n   - deep\n\n> quoted\n\n```js\nlet a;\n```",
    );
    expect(read.text).toBe(
      "Hi you\n\na b c< l [no](javascript:x) 2 * 3 * 4 &\nnext\n\n1. one\n2. two\n   • deep\n\nquoted\n\nlet a;",
    );
    expect(stylesOf(read)).toEqual([
      ["bold", "Hi you"],
      ["italic", "you"],
      ["bold", "b"],
      ["code", "c<"],
      ["text_link", "l", "https://x.y/z"],
      ["blockquote", "quoted"],
      ["pre", "let a;"],
    ]);
  });

  test("HTML", () => {
    const read = fromHtml(
      `<h1>Hi</h1><p>a <b>b <i>c</b> d</i> 1 < 2 &amp; <a href="https://x.y/?a=1&amp;b=2">l</a></p>` +
        `<pre><code class="language-js">x  y</code></pre><ul><li>one<li>two</ul>` +
        `<a href=javascript:x>n</a> <script>s</script> <u>open`,
    );
    expect(read.text).toBe("Hi\n\na b c d 1 < 2 & l\n\nx  y\n• one\n• two\nn s open");
    expect(stylesOf(read)).toEqual([
      ["bold", "Hi"],
      ["bold", "b c"],
      ["italic", "c"],
      ["text_link", "l", "https://x.y/?a=1&b=2"],
      ["pre", "x  y"],
      ["underline", "open"],
    ]);
  });

  test.each([
    "<a ",
    "<b>",
    "<!--",
    '<a href="',
    "&#",
    "</b>",
    "[",
    "**a ",
    "> ",
    "_a_ ",
    "<",
    "1. ",
    "> - ",
  ])("30,000 characters of %j are read as well", (piece) => {
    const source = piece.repeat(30_000 / piece.length);
    for (const read of [fromHtml(source), fromMarkdown(source)])
      expect(read.text.length).toBeLessThanOrEqual(30_000);
  });
});

test("markup that is nested deeper than anybody reads is sent as it stands", () => {
  const source = `${"*".repeat(15_000)}a${"*".repeat(15_000)}`;
  expect(fromMarkdown(source)).toEqual({ text: source, entities: [] });
});

describe("a long text is split", () => {
  const plain = (text: string): FormattedText => ({ text, entities: [] });

  test("at paragraphs, lines, sentences, words, whatever comes first from behind", () => {
    const paragraph = "word ".repeat(500).trim();
    for (const [between, ends] of [
      ["\n\n", /word$/],
      ["\n", /word$/],
      [". ", /word\.$/],
      [" ", /word$/],
    ] as const) {
      const parts = split(plain([paragraph, paragraph].join(between)));
      expect(parts.map(({ text }) => text.length <= 4096)).toEqual([true, true]);
      expect(parts[0]?.text).toMatch(ends);
    }
    expect(split(plain(`${paragraph}.\n\n${paragraph}`))[0]?.text).toBe(`${paragraph}.`);
  });

  test.each(["😀", "👨‍👩‍👧‍👦", "e\u0301", "🇫🇷"])("never inside of %s", (character) => {
    const text = `x${character.repeat(9000 / character.length)}`;
    const parts = split(plain(text));
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.map((part) => part.text).join("")).toBe(text);
    for (const part of parts.slice(1)) expect(part.text.startsWith(character)).toBe(true);
  });

  test("styles go on behind a cut, and nothing is empty", () => {
    const text = `${"a".repeat(4000)}\n\n \n\n${"b".repeat(4000)}`;
    const whole = { text, entities: [{ type: "bold" as const, offset: 0, length: text.length }] };
    expect(split(whole).map(({ entities }) => entities)).toEqual([
      [{ type: "bold", offset: 0, length: 4000 }],
      [{ type: "bold", offset: 0, length: 4000 }],
    ]);
    expect(split(plain(" \n ".repeat(5000)))).toEqual([]);
  });
});

describe("over the Bot API", () => {
  let telegram: BotApiDouble;
  beforeAll(async () => {
    telegram = await BotApiDouble.start();
    telegram.chats.add(7);
  });
  beforeEach(() => {
    telegram.sent.length = 0;
  });
  afterAll(() => telegram.stop());

  const send = async (text: string, format: TextFormat = "plain", image?: Image) => {
    const sender = new TelegramSender({ apiRoot: telegram.url, wait: async () => {} });
    const parts = sender.compose({ text, format, image });
    const { signal } = new AbortController();
    const place = { conversationId: "7", token: telegram.token };
    const sent = [];
    for (const part of parts) sent.push(await part.send(place, signal));
    return { parts, sent };
  };

  test("Telegram takes every part of every format", async () => {
    for (const format of ["plain", "markdown", "html"] as const) {
      await send(`**bold** <b>bold</b> ${"a sentence of words. ".repeat(1000)}`, format);
    }
    expect(telegram.sent.length).toBeGreaterThanOrEqual(15);
    expect(telegram.sent.every(({ text = "" }) => text.length <= 4096)).toBe(true);
  });

  test("a picture by URL, by file id and as bytes, with the rest of a long caption behind it", async () => {
    const bytes = Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64");
    const url = "https://example.com/a.png";
    const { parts } = await send("c ".repeat(1000), "plain", { url });
    await send("", "plain", { fileId: "AgACAgIAAxkBAAIBAmX" });
    const uploaded = await send("**look**", "markdown", { bytes, type: "png" });
    expect(telegram.sent.map(({ method }) => method)).toEqual([
      "sendPhoto",
      "sendMessage",
      "sendPhoto",
      "sendPhoto",
    ]);
    expect(telegram.sent[0]?.caption?.length).toBeLessThanOrEqual(1024);
    expect(telegram.sent[3]).toMatchObject({
      caption: "look",
      caption_entities: [{ type: "bold", offset: 0, length: 4 }],
    });
    expect(telegram.sent[3]?.photo).toEqual(bytes);
    expect(parts[0]?.payload).toEqual({ image: { url } });
    expect(uploaded.parts[0]?.payload).toMatchObject({
      image: { sha256: expect.stringMatching(/^[\da-f]{64}$/), type: "image/png", bytes: 16 },
    });
  });

  test.each([
    [{ refuses: 400, description: 'Bad Request: unsupported "secret"' }, "INVALID_INPUT", true],
    [{ refuses: 401, description: "Unauthorized" }, "UNAVAILABLE", true],
    [{ refuses: 403, description: "Forbidden: user is deactivated" }, "CONFLICT", true],
    [{ refuses: 429, description: "x", parameters: { retry_after: 16 } }, "RATE_LIMITED", true],
    [{ refuses: 500, description: "Internal Server Error" }, "UNAVAILABLE", false],
    ["bad gateway", "UNAVAILABLE", false],
    ["breaks off", "UNAVAILABLE", false],
  ] as const)("%j is %s", async (behaviour, code, isCertain) => {
    telegram.next(behaviour);
    const failure = await send("secret").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SendFailure);
    expect(failure).toMatchObject({ code, isCertain });
    expect(JSON.stringify([failure, String(failure)])).not.toMatch(/secret|110201543/);
  });

  test("where nobody listens, nothing was sent", async () => {
    const gone = await BotApiDouble.start();
    const apiRoot = gone.url;
    await gone.stop();
    const sender = new TelegramSender({ apiRoot, wait: async () => {} });
    const [part] = sender.compose({ text: "hi", format: "plain" });
    const place = { conversationId: "7", token: telegram.token };
    await expect(part?.send(place, new AbortController().signal)).rejects.toMatchObject({
      code: "UNAVAILABLE",
      isCertain: true,
    });
  });

  test("markup without words is nothing to send", async () => {
    await expect(send("<b> </b>", "html")).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
