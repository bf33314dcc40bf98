import { expect, test } from "vitest";
import { flattenRichMessage } from "../../src/telegram/rich-text.ts";
import { archived, message } from "./fixtures.ts";

const p = (text: unknown) => ({ type: "paragraph", text });

test("a rich message reads like its screen, one line a block", () => {
  const blocks = [
    { type: "heading", text: "Order", size: 1 },
    p([
      "Two ",
      { type: "bold", text: ["cups of ", { type: "italic", text: "oolong" }] },
      " please",
    ]),
    { type: "divider" },
    {
      type: "list",
      items: [
        { label: "1.", blocks: [p("hot"), p("no sugar")] },
        { label: "2.", blocks: [] },
      ],
    },
    { type: "blockquote", blocks: [p("as before")], credit: "Ana" },
    {
      type: "table",
      cells: [
        [{ text: "tea" }, { text: "price" }],
        [{ text: "oolong" }, {}],
      ],
      caption: "List",
    },
    {
      type: "details",
      summary: "More",
      blocks: [p({ type: "custom_emoji", alternative_text: "🍵" })],
    },
    { type: "photo", photo: [], caption: { text: "my cup", credit: "by Ben" } },
    { type: "mathematical_expression", expression: "2x" },
    {
      type: "buttons",
      buttons: [
        { text: "Yes", callback_data: "y" },
        { text: "No", callback_data: "n" },
      ],
    },
    p([{ type: "button", button: { text: "Open", url: "https://example.org" } }]),
  ];
  expect(flattenRichMessage({ blocks })).toBe(
    [
      "Order",
      "Two cups of oolong please",
      "1. hot",
      "no sugar",
      "2.",
      "as before",
      "Ana",
      "tea\tprice",
      "oolong\t",
      "List",
      "More",
      "🍵",
      "my cup",
      "by Ben",
      "2x",
      "Yes\tNo",
      "Open",
    ].join("\n"),
  );
});

test("blocks nested 16 deep keep their words", () => {
  let block: object = p("at the bottom");
  for (let level = 0; level < 16; level++) block = { type: "blockquote", blocks: [block] };
  expect(archived({ message: message({ rich_message: { blocks: [block] } }) }).text).toBe(
    "at the bottom",
  );
});

test("a rich message is kept whole, and odd ones have no words", () => {
  const blocks = [p("x".repeat(40_000))];
  expect(archived({ message: message({ rich_message: { blocks } }) }).text).toHaveLength(40_000);
  for (const rich of [
    null,
    1,
    {},
    { blocks: 1 },
    { blocks: [1, { text: 5 }, { cells: [1], items: [2] }] },
  ]) {
    expect(flattenRichMessage(rich)).toBe("");
  }
});
