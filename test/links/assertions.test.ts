import { afterAll, beforeAll, expect, test } from "vitest";
import { sign } from "../../src/channels/standard-webhooks.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { memoryOf } from "./people.ts";

const LINK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, env: { LINK_SECRET }, background: false });
  });
  afterAll(() => app.dispose());

  let deliveries = 0;
  const assert = async (
    identities: unknown,
    {
      id = `msg_${++deliveries}`,
      secret = LINK_SECRET,
      to = app,
      late = 0,
      host = "localhost",
    } = {},
  ) => {
    const body = JSON.stringify({ identities });
    const timestamp = Math.floor(clock.now().getTime() / 1000) - late;
    const answer = await to.http.inject({
      method: "POST",
      url: "/v1/links/assertions",
      headers: {
        host,
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": sign(secret, { id, timestamp, body }),
      },
      payload: body,
    });
    return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
  };

  test("all identities that the host app names end as one person: the one known longest", async () => {
    await app.ok("update_memory", { userId: "web:a", key: "from", value: "web" });
    clock.advance(1000);
    await app.ok("update_memory", { userId: "telegram:1", key: "seen", value: 1 });
    const oldest = await memoryOf(app, "web:a");
    const answer = await assert(["telegram:1", "web:a", "whatsapp:336"]);
    expect(answer).toEqual({ status: 200, body: { userId: oldest.id } });
    expect(await memoryOf(app, "whatsapp:336")).toMatchObject({
      id: oldest.id,
      status: "approved",
      channels: ["telegram", "web", "whatsapp"],
      entries: { from: "web", seen: 1 },
    });
  });

  test("a repeated delivery changes nothing, also after the link was undone", async () => {
    const body = ["telegram:2", "web:b"];
    const first = await assert(body, { id: "msg_again" });
    expect(await assert(body, { id: "msg_again" })).toEqual(first);
    const { body: listed } = await app.v1("GET", "/v1/links?userId=web:b");
    const [link] = listed.links as { id: string }[];
    await app.v1("POST", `/v1/links/${link?.id}/undo`, {});
    expect((await assert(body, { id: "msg_again" })).status).toBe(200);
    const [one, other] = [await memoryOf(app, "telegram:2"), await memoryOf(app, "web:b")];
    expect(one.id).not.toBe(other.id);
  });

  test("only the app that holds the secret is believed, and only for some minutes", async () => {
    const two = ["telegram:3", "web:c"];
    const other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    expect((await assert(two, { secret: other })).status).toBe(401);
    expect((await assert(two, { late: 301 })).status).toBe(401);
    expect((await assert(two, { host: "evil.example" })).status).toBe(403);
    const plain = await app.http.inject({
      method: "POST",
      url: "/v1/links/assertions",
      payload: { identities: two },
    });
    expect(plain.statusCode).toBe(401);
    expect((await app.call("get_user_context", { userId: "web:c" })).error?.code).toBe("NOT_FOUND");
  });

  test("what names no channel, one person or nobody is refused, and makes nobody known", async () => {
    for (const identities of [
      ["telegram:4"],
      ["telegram:4", "telegram:4"],
      ["telegram:4", "12345"],
      ["telegram:4", "web: "],
      ["telegram:4", "019321b2-0000-7000-8000-000000000000"],
      "telegram:4",
    ]) {
      expect((await assert(identities)).status).toBe(400);
    }
    const { error } = await app.call("get_user_context", { userId: "telegram:4" });
    expect(error?.code).toBe("NOT_FOUND");
  });

  test("nobody is linked to somebody who is blocked", async () => {
    await app.ok("update_memory", { userId: "web:d", key: "k", value: 1 });
    await app.ok("set_user_status", { userId: "web:d", status: "blocked", reason: "spam" });
    expect((await assert(["telegram:5", "web:d"])).status).toBe(409);
  });

  test("without a secret there is nothing at the address", async () => {
    const bare = await openApp(engine);
    try {
      expect((await assert(["telegram:6", "web:e"], { to: bare })).status).toBe(404);
    } finally {
      await bare.dispose();
    }
  });
});
