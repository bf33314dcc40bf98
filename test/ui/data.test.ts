import { afterAll, beforeAll, expect, test } from "vitest";
import { OWNER_KEY, openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { type Browser, signedIn, textOf } from "./browser.ts";

let app: TestApp;
let owner: Browser;
beforeAll(async () => {
  app = await openApp("embedded", { clock: new TestClock().now, background: false });
  owner = await signedIn(app, OWNER_KEY);
});
afterAll(() => app.dispose());

test("a person is erased once their name was typed, and the report says what went", async () => {
  await app.ok("update_memory", { userId: "web:anna", key: "k", value: "v" });
  const { user } = await app.ok("get_user_context", { userId: "web:anna" });
  const { id } = user as { id: string };
  const form = await owner.get(`/ui/data?userId=${id}`);
  expect(textOf(form.html)).toMatch(/It cannot be undone.*Type web:anna to go on/);

  const wrong = await owner.post("/ui/data/erase", { kind: "user", userId: id, confirm: "bob" });
  expect(wrong.status).toBe(400);
  expect(textOf(wrong.html)).toContain("does not name what is to be erased");

  const asked = { kind: "user", userId: id, confirm: "web:anna" };
  const { location = "" } = await owner.post("/ui/data/erase", asked);
  expect(textOf((await owner.get(location)).html)).toContain("It is under way");
  await app.jobs.runDue();
  const report = await owner.get(location);
  expect(textOf(report.html)).toMatch(/gone from the files.*memory_kv 1.*Left over none/);
  const again = await owner.post(`${location}/verify`);
  expect(textOf(again.html)).toContain("nothing is left, and the chain is whole");
  expect(textOf((await owner.get("/ui/erasures")).html)).toContain("A person gone from the files");
  expect((await owner.get(`/ui/data?userId=${id}`)).status).toBe(404);
});

test("nobody but an owner without pins is shown any of it", async () => {
  await app.ok("update_memory", { userId: "web:ben", key: "k", value: "v" });
  const keys = [{ role: "admin" }, { role: "owner", pinUserId: "web:ben" }] as const;
  for (const key of keys) {
    const browser = await signedIn(app, await app.createKey(key));
    for (const page of ["/ui/data", "/ui/erasures"]) {
      expect((await browser.get(page)).status).toBe(403);
    }
    const { status } = await browser.post("/ui/data/reset", { scope: "org", confirm: "default" });
    expect(status).toBe(403);
  }
});
