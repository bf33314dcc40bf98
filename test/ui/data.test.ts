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

test("who may export is shown what is in the file, in both forms, and no more", async () => {
  await app.ok("update_memory", { userId: "web:cara", key: "k", value: "v" });
  const { user } = await app.ok("get_user_context", { userId: "web:cara" });
  const { id } = user as { id: string };
  const pages = [
    [await app.createKey({}), `/ui/data?userId=${id}`, "userId"],
    [await app.createKey({ pinUserId: "web:cara" }), "/ui/data", "userId"],
    [await app.createKey({ role: "admin" }), "/ui/data", "org"],
    [OWNER_KEY, "/ui/data", "org"],
  ] as const;
  for (const [key, page, field] of pages) {
    const { html } = await (await signedIn(app, key)).get(page);
    expect(html).toContain(`name="${field}"`);
    expect(html).toMatch(/value="json".*value="ndjson"/s);
    expect(html.includes("/ui/data/erase")).toBe(key === OWNER_KEY);
  }
  const member = await signedIn(app, pages[0][0]);
  const { html } = await member.get("/ui/data");
  expect(html).not.toContain("/ui/export");
  expect(html).toContain("Choose a person");
});

test("nobody but an owner without pins may erase, or is shown what was", async () => {
  await app.ok("update_memory", { userId: "web:ben", key: "k", value: "v" });
  const keys = [{ role: "admin" }, { role: "owner", pinUserId: "web:ben" }] as const;
  for (const key of keys) {
    const browser = await signedIn(app, await app.createKey(key));
    expect((await browser.get("/ui/erasures")).status).toBe(403);
    expect((await browser.get("/ui/data")).html).not.toContain("/ui/data/erase");
    const { status } = await browser.post("/ui/data/reset", { scope: "org", confirm: "default" });
    expect(status).toBe(403);
  }
});

test.each([
  ["an owner", { role: "owner" }, true, true],
  ["a member", { role: "member" }, true, false],
  ["the key of a person", { role: "owner", pinUserId: "web:eve" }, true, false],
  ["the key of a person and an agent", { pinUserId: "web:eve", pinAgentId: "maya" }, false, false],
] as const)(
  "%s is offered on a person's page what that key may do",
  async (_who, key, copies, erases) => {
    await app.ok("update_memory", { userId: "web:eve", key: "k", value: "v" });
    const { user } = await app.ok("get_user_context", { userId: "web:eve" });
    const { id } = user as { id: string };
    const browser = await signedIn(app, await app.createKey(key));
    const { html } = await browser.get(`/ui/people/${id}`);
    const copy = `/ui/data?userId=${id}`;
    expect(html.includes(`${copy}"`)).toBe(copies);
    expect((await browser.get(copy)).status).toBe(copies ? 200 : 403);
    expect(html.includes(`${copy}#erase"`)).toBe(erases);
  },
);
