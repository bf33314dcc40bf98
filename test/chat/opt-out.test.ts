import { expect, test } from "vitest";
import { optsOut } from "../../src/chat/opt-out.ts";

test.each([
  "#noremember",
  "my secret #NoRemember! ",
  "my secret\n#NOREMEMBER\n\n",
  "my secret (#noremember)",
  "my secret [#noremember].",
  'my secret "#noremember"',
  "my secret «#noremember»",
  "my secret „#noremember“",
  "my secret *#noremember*",
  "my secret **#noremember**",
  "my secret _#noremember_",
  "my secret `#noremember`",
  "my secret ~~#noremember~~",
  "my secret ||#noremember||",
  "my secret <#noremember>",
  "my secret #noremember 🙏",
  "my secret #noremember👍🏽❤️👩‍👩‍👧🇫🇷",
  "my secret 🤫#noremember",
  "my secret. #noremember = $ + ^",
  "my secret.#noremember",
  "これは秘密です。#noremember",
  "my secret ＃noremember",
  "my secret ＃ｎｏｒｅｍｅｍｂｅｒ　",
  "my secret ﹟noremember",
  ...[
    "\u200b",
    "\ufeff",
    "\u2060",
    "\u200d",
    "\u200e",
    "\u202c",
    "\u00ad",
    "\u3164",
    "\ufe0f",
  ].flatMap((invisible) => [
    `my secret #noremember${invisible}`,
    `my secret${invisible} ${invisible}#${invisible}no${invisible}remember ${invisible}.`,
  ]),
])("%j opts its turn out", (text) => expect(optsOut(text)).toBe(true));

test.each([
  null,
  "",
  "noremember",
  "# noremember",
  "#no remember",
  "#noremembering",
  "#noremembers",
  "#noremember2",
  "#noremember_me",
  "#noremember please",
  "#noremember, please",
  "#noremember 2",
  "#noremember 请",
  "#noremember is what I asked about",
  "what does #noremember do?",
  "https://example.com/#noremember",
  "https://example.com/page#noremember",
  "C#noremember",
])("%j does not", (text) => expect(optsOut(text)).toBe(false));

test("a text that is made to take long is read in one go", () => {
  expect(optsOut(`${"#noremember! ".repeat(5_000)}x`)).toBe(false);
  expect(optsOut(`#noremember${" !".repeat(32_000)}x`)).toBe(false);
});
