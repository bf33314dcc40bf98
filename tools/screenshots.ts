import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openChromium, SIZES, signIn, THEMES } from "../test/ui/browser/chromium.ts";
import { SCREENS } from "../test/ui/browser/screens.ts";
import { openWorld } from "../test/ui/browser/world.ts";

/**
 * `npm run screenshots [-- FOLDER [SCREEN…]]`: every screen of the memory page over the same data that the browser tests
 * see, on a desktop and a phone, light and dark, with an index.html to look at them.
 */
const [folder = "screenshots", ...only] = process.argv.slice(2);
const into = resolve(folder);
const dataDir = await mkdtemp(join(tmpdir(), "souvenir-screenshots-"));
await mkdir(into, { recursive: true });

const [world, browser] = await Promise.all([
  openWorld("embedded", { DATA_DIR: dataDir }),
  openChromium(),
]);
const url = await world.app.http.listen({ host: "127.0.0.1", port: 0 });
const wanted = SCREENS.filter(({ name }) => only.length === 0 || only.includes(name));
const pictures: string[] = [];
try {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of THEMES) {
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await signIn(context, url, world.key);
      for (const { name, path } of wanted) {
        await page.goto(url + path(world));
        const file = `${name}-${size}-${colorScheme}.png`;
        await page.screenshot({ path: join(into, file), fullPage: true });
        pictures.push(file);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await world.dispose();
  await rm(dataDir, { recursive: true, force: true });
}

const figures = pictures
  .toSorted()
  .map((file) => `<figure><figcaption>${file}</figcaption><img src="${file}" alt="" /></figure>`);
const style =
  "body{font:14px sans-serif}figure{display:inline-block;vertical-align:top}img{width:380px;border:1px solid #999}";
await writeFile(
  join(into, "index.html"),
  `<!doctype html><meta charset="utf-8" /><title>Screens</title><style>${style}</style>${figures.join("\n")}`,
);
process.stdout.write(`${pictures.length} pictures in ${into}\n`);
