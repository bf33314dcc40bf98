import { afterAll, beforeAll, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { openWhatsapp, said } from "../whatsapp/app-under-test.ts";
import { links, undo } from "./people.ts";

onBothDatabases((engine) => {
  let whatsapp: Awaited<ReturnType<typeof openWhatsapp>>;
  beforeAll(async () => {
    whatsapp = await openWhatsapp(engine);
  });
  afterAll(() => whatsapp.app.dispose());

  const both = (id: string, number: string) =>
    said({ from_user_id: id, from: number, text: { body: "by both" } });
  const byNumber = (number: string) =>
    said({ from: number, from_user_id: undefined, text: { body: "by number" } });
  const byId = (id: string) => said({ from_user_id: id, from: undefined, text: { body: "by id" } });

  test("two whom the platform shows to be one are linked, which can be undone", async () => {
    const { app, deliver, texts } = whatsapp;
    await deliver(byNumber("15550071"), byId("US.71"));
    expect(await texts("whatsapp:US.71")).toEqual(["by id"]);
    await deliver(both("US.71", "15550071"));
    expect((await texts("whatsapp:15550071")).toSorted()).toEqual([
      "by both",
      "by id",
      "by number",
    ]);
    const { body } = await app.v1("GET", "/v1/links?userId=whatsapp:US.71");
    const [link] = body.links as { id: string; proof: string; actor: string }[];
    expect(link).toMatchObject({ proof: "platform", actor: "whatsapp" });
    await undo(app, link?.id ?? "");
    expect(await texts("whatsapp:15550071")).toEqual(["by number"]);
  });

  test("where one of them is blocked they stay apart, and what they write is kept", async () => {
    const { app, deliver, texts } = whatsapp;
    await deliver(byNumber("15550072"), byId("US.72"));
    const block = { userId: "whatsapp:15550072", status: "blocked", reason: "spam" };
    await app.ok("set_user_status", block);
    await deliver(both("US.72", "15550072"));
    expect((await texts("whatsapp:US.72")).toSorted()).toEqual(["by both", "by id"]);
  });

  test("an id that somebody got while they were linked goes back with the number it came with", async () => {
    const { app, deliver, texts, idsOf } = whatsapp;
    await deliver(byNumber("15550073"));
    await app.ok("update_memory", { userId: "web:73", key: "k", value: 1 });
    const link = await links(app, "web:73", "whatsapp:15550073");
    await deliver(both("US.73", "15550073"));
    await undo(app, link);
    expect(await idsOf("whatsapp:15550073")).toEqual(["15550073", "US.73"]);
    expect(await texts("whatsapp:US.73")).toHaveLength(2);
  });

  test("a code sent on WhatsApp links the sender", async () => {
    const { app, deliver } = whatsapp;
    await app.ok("update_memory", { userId: "web:74", key: "plan", value: "gold" });
    const { code } = await app.ok("link_identity", { userId: "web:74" });
    await deliver(said({ from: "15550074", from_user_id: "US.74", text: { body: String(code) } }));
    const { memory } = await app.ok("get_user_context", { userId: "whatsapp:US.74" });
    expect(memory).toEqual({ plan: "gold" });
  });
});
