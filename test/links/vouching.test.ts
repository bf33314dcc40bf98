import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { links, memoryOf, saysOnTelegram, undo } from "./people.ts";

onBothDatabases((engine) => {
  const clock = new TestClock();
  let app: TestApp;
  let number = 100;
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());
  beforeEach(() => {
    clock.advance(1000);
    number += 10;
  });

  /** Somebody whom nobody approved yet. */
  const pending = async (nth: number) => {
    await saysOnTelegram(app, number + nth, "hello");
    return `telegram:${number + nth}`;
  };
  const approved = async () => {
    const web = `web:guest-${number}`;
    await app.ok("update_memory", { userId: web, key: "plan", value: "gold" });
    return web;
  };
  const statusOf = async (userId: string) => (await memoryOf(app, userId)).status;
  const decide = (userId: string, status: string) =>
    app.ok("set_user_status", { userId, status, reason: "known to us" });
  const trailOf = async (userId: string) => {
    const { id } = await memoryOf(app, userId);
    const { body } = await app.v1("GET", `/v1/audit?subjectKind=user&subjectId=${id}`);
    return body.events as { action: string }[];
  };

  test("somebody who waits and turns out to be a person who is approved is approved, and the trail says by what", async () => {
    const [waiting, known] = [await pending(1), await approved()];
    const link = await links(app, waiting, known);
    const { user } = await app.ok("get_user_context", { userId: waiting });
    expect(user).toMatchObject({ status: "approved", approvedAt: clock.now().toISOString() });
    const act = { actor: "operator", reason: "the same person" };
    expect(await trailOf(waiting)).toMatchObject([
      { action: "user.approved", ...act, details: { before: "pending", linkId: link } },
      { action: "user.linked", ...act },
    ]);
  });

  test("a code that was issued for somebody who waits approves them when an approved person sends it", async () => {
    const waiting = await pending(1);
    const { code } = await app.ok("link_identity", { userId: waiting });
    const other = await pending(2);
    await decide(other, "approved");
    await saysOnTelegram(app, number + 2, String(code), 5);
    expect((await memoryOf(app, waiting)).id).toBe((await memoryOf(app, other)).id);
    expect(await statusOf(waiting)).toBe("approved");
  });

  test("two who wait are one who waits", async () => {
    const [one, other] = [await pending(1), await pending(2)];
    await links(app, one, other);
    expect(await statusOf(one)).toBe("pending");
  });

  test("an undo takes the approval back, but not what an admin decided since", async () => {
    const [waiting, known] = [await pending(1), await approved()];
    await undo(app, await links(app, waiting, known));
    expect([await statusOf(waiting), await statusOf(known)]).toEqual(["pending", "approved"]);
    expect(await trailOf(waiting)).toMatchObject([
      { action: "user.pending", details: { before: "approved" } },
      { action: "user.unlinked" },
      { action: "user.approved" },
      { action: "user.linked" },
    ]);
    const link = await links(app, waiting, known);
    await decide(waiting, "approved");
    await undo(app, link);
    expect(await statusOf(waiting)).toBe("approved");
  });

  test("an undo leaves the approval where another approved person is one with them", async () => {
    const [waiting, known, second] = [await pending(1), await approved(), await pending(2)];
    await decide(second, "approved");
    const first = await links(app, waiting, known);
    const other = await links(app, waiting, second);
    await undo(app, first);
    expect(await statusOf(waiting)).toBe("approved");
    await undo(app, other);
    expect(await statusOf(waiting)).toBe("pending");
  });

  test("an approval that went on through a chain goes back through it", async () => {
    const [known, between, last] = [await approved(), await pending(1), await pending(2)];
    const first = await links(app, between, known);
    await links(app, last, between);
    expect(await statusOf(last)).toBe("approved");
    await undo(app, first);
    expect([await statusOf(last), await statusOf(known)]).toEqual(["pending", "approved"]);
  });

  test("whoever was blocked while they were one with another stays blocked when they are parted", async () => {
    const [waiting, known] = [await pending(1), await approved()];
    const link = await links(app, waiting, known);
    await decide(known, "blocked");
    await undo(app, link);
    expect([await statusOf(waiting), await statusOf(known)]).toEqual(["blocked", "blocked"]);
    expect((await trailOf(known))[0]).toMatchObject({
      action: "user.blocked",
      details: { before: "approved", linkId: link },
    });
  });

  test("nobody who is blocked is approved by a link", async () => {
    const [waiting, known] = [await pending(1), await approved()];
    await decide(waiting, "blocked");
    const answer = await app.v1("POST", `/v1/users/${waiting}/links`, { with: known, reason: "x" });
    expect(answer.status).toBe(409);
    expect(await statusOf(waiting)).toBe("blocked");
  });
});
