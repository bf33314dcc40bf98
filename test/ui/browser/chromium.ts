import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

export const CHROMIUM = [process.env.CHROMIUM, "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);

export const THEMES = ["light", "dark"] as const;

export const SIZES = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

export function openChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error("there is no Chromium: set CHROMIUM to its path");
  // Containers run as root and have little shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

/** Signs in by the form, as a person does. */
export async function signIn(context: BrowserContext, url: string, key: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/ui`);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}
