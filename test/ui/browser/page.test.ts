import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, openChromium, SIZES, signIn } from "./chromium.ts";
import { SCREENS } from "./screens.ts";
import { openWorld, type World } from "./world.ts";

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

describe.skipIf(CHROMIUM === undefined)("in Chromium (set CHROMIUM to its path)", () => {
  let world: World;
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    [world, browser] = await Promise.all([openWorld("embedded"), openChromium()]);
    url = await world.app.http.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await browser?.close();
    await world?.dispose();
  });

  const contextOf = (options: Parameters<Browser["newContext"]>[0] = {}) =>
    browser.newContext({ viewport: SIZES.desktop, ...options });

  test("axe finds nothing on any screen, in either theme", async () => {
    const context = await contextOf({ colorScheme: "light" });
    const page = await signIn(context, url, world.key);
    for (const { name, path } of SCREENS) {
      await page.goto(url + path(world));
      expect({ name, faults: await faultsOf(page) }).toEqual({ name, faults: [] });
    }
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await context.close();
  });

  test("nothing is wider than a phone of 360 pixels, and the menu opens there", async () => {
    const context = await contextOf({ viewport: { width: 360, height: 640 } });
    const page = await signIn(context, url, world.key);
    for (const { name, path } of SCREENS) {
      await page.goto(url + path(world));
      const width = await page.evaluate("document.documentElement.scrollWidth");
      expect({ name, width }).toEqual({ name, width: 360 });
    }
    const facts = page.getByRole("navigation", { name: "Screens" }).getByRole("link", {
      name: "Facts",
      exact: true,
    });
    expect(await facts.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Menu" }).click();
    await facts.click();
    await page.waitForURL("**/ui/facts");
    await context.close();
  });

  test("the list answers while somebody types, and the address says what is shown", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(`${url}/ui/facts?scope=user&userId=${world.userId}`);
    await page.getByRole("searchbox").pressSequentially("wool");
    await page.waitForURL(/=wool/);
    await page.getByRole("link", { name: "size.coat", exact: true }).waitFor({ state: "detached" });
    const found = page.getByRole("link", { name: "health.allergy", exact: true });
    expect(await found.isVisible()).toBe(true);
    expect(await page.evaluate("document.activeElement.type")).toBe("search");
    await page.reload();
    expect(await page.getByRole("searchbox").inputValue()).toBe("wool");
    expect(faults).toEqual([]);
    await context.close();
  });

  test("a session that ends and a server that is gone are said, not swallowed", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/facts?scope=user&userId=${world.userId}`);
    await context.setOffline(true);
    await page.getByRole("searchbox").fill("coat");
    await page.getByRole("alert").getByText("did not answer").waitFor();
    await context.setOffline(false);
    await context.clearCookies();
    await page.getByRole("searchbox").fill("budget");
    await page.waitForURL("**/ui/sign-in");
    await context.close();
  });

  test("a fact is found, read to its source, edited and deleted without JavaScript", async () => {
    const context = await contextOf({ javaScriptEnabled: false });
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/facts?scope=user&userId=${world.userId}`);
    await page.getByRole("searchbox").fill("budget");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "budget.coat", exact: true }).click();
    await page.getByText("Edit the value").click();
    await page.getByLabel("Value", { exact: true }).fill("250");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("status").getByText("Changed").waitFor();
    expect(await page.locator(".said").textContent()).toBe("250");
    await page.getByText("Delete for good").first().click();
    await page.getByLabel("Why", { exact: true }).fill("Asked for it");
    await page.getByRole("button", { name: "Delete for good" }).click();
    await page.getByRole("status").getByText("Deleted").waitFor();
    expect(await page.getByText("budget.coat").count()).toBe(0);
    await context.close();
  });

  test("a fact leads to the sentence that it comes from", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/facts?scope=user&userId=${world.userId}`);
    await page.getByRole("link", { name: "health.allergy", exact: true }).click();
    await page.getByRole("link", { name: "Show it in the chat" }).click();
    await page.getByRole("heading", { level: 1, name: "Message of Ana" }).waitFor();
    expect(
      await page.getByText("No wool please, I am allergic to it.", { exact: true }).isVisible(),
    ).toBe(true);
    expect(await page.getByText(/^Hello! I am looking for a coat/).isVisible()).toBe(true);
    await context.close();
  });

  test("a contradiction is settled in place, and what the agent sees follows", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/inbox`);
    await page.getByRole("button", { name: "Accept the new one" }).click();
    await page.getByRole("status").getByText("Settled").waitFor();
    await page.getByText("Nothing waits here").waitFor();
    expect(new URL(page.url()).pathname).toBe("/ui/inbox");
    await page.goto(`${url}/ui/preview?userId=${world.userId}&query=colour`);
    const block = await page.locator("pre").allTextContents();
    expect(block.join()).toContain("Navy blue");
    expect(block.join()).not.toContain("Dark green");
    await context.close();
  });

  test("a rule that is written stands in the block that agents get", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/rules`);
    await page.getByLabel("Rules of the org").fill("Never promise a delivery date.");
    await page.getByRole("button", { name: /^Save as version/ }).click();
    await page.locator("pre").getByText("Never promise a delivery date.").waitFor();
    await page.goto(`${url}/ui/preview?userId=${world.userId}&query=delivery`);
    expect((await page.locator("pre").allTextContents()).join()).toContain("Never promise");
    await context.close();
  });

  test("what is kept of a person is taken along, then erased, and looked for again", async () => {
    const context = await contextOf();
    const page = await signIn(context, url, world.key);
    await page.goto(`${url}/ui/people/${world.userId}`);
    await page.getByRole("link", { name: "Export", exact: true }).click();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download JSON", exact: true }).click();
    const exported = readFileSync(await (await downloading).path(), "utf8");
    expect(exported).toContain("Allergic to wool");
    await page.goto(`${url}/ui/people/${world.userId}`);
    await page.getByRole("link", { name: "Erase", exact: true }).click();
    const form = page.locator("form", {
      has: page.getByRole("button", { name: "Erase for good" }),
    });
    await form.getByRole("textbox").fill("somebody else");
    await form.getByRole("button").click();
    await page.getByRole("alert").waitFor();
    await form.getByRole("textbox").fill((await form.locator("label code").textContent()) ?? "");
    await form.getByRole("button").click();
    await page.getByRole("heading", { level: 1, name: /^Erasure/ }).waitFor();
    const again = page.getByRole("link", { name: "Look again" });
    while ((await again.count()) > 0) await again.click();
    await page.getByRole("button", { name: "Verify again" }).click();
    await page.getByRole("status").getByText("nothing is left, and the chain is whole").waitFor();
    const answer = await page.goto(`${url}/ui/people/${world.userId}`);
    expect(answer?.status()).toBe(404);
    await context.close();
  });
});

/** What axe finds in the light theme, and what it finds of the other one's colours: all else is the same in both. */
async function faultsOf(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(AXE);
  await page.emulateMedia({ colorScheme: "light" });
  const light = (await page.evaluate("axe.run()")) as AxeResults;
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = (await page.evaluate("axe.run({ runOnly: ['color-contrast'] })")) as AxeResults;
  return [...light.violations, ...dark.violations].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
  );
}
