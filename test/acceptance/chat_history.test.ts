import { afterAll, beforeAll, expect, test } from "vitest";
import { openApp, type TestApp } from "../support/app.ts";
import { onBothDatabases } from "../support/database.ts";
import { privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

interface Page {
  readonly messages: readonly {
    readonly text: string;
    readonly direction: string;
    readonly sentAt: string;
  }[];
  readonly nextBefore: string | null;
}

onBothDatabases((engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp(engine);
  });
  afterAll(() => app.dispose());

  const history = async (args: Record<string, unknown>) =>
    (await app.ok("get_chat_history", args)) as unknown as Page;
  const texts = (page: Page) => page.messages.map((message) => message.text);

  async function receive(person: number, count: number, dateOf = (i: number) => TELEGRAM_DATE + i) {
    for (let i = 1; i <= count; i++) {
      const { status } = await app.telegram(
        privateMessage(person, { message_id: i, text: `m${i}`, date: dateOf(i) }),
      );
      expect(status).toBe(200);
    }
  }

  async function allPages(userId: string, limit: number): Promise<string[]> {
    const seen: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page: Page = await history({ userId, limit, ...(before && { before }) });
      expect(page.messages.length).toBeLessThanOrEqual(limit);
      seen.unshift(...texts(page));
      before = page.nextBefore;
    }
    return seen;
  }

  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`);

  test("the default page is the newest 50, oldest first", async () => {
    await receive(101, 60);
    const page = await history({ userId: "101" });
    expect(texts(page)).toEqual(names(11, 60));
    expect(texts(await history({ userId: "101", limit: 5 }))).toEqual(names(56, 60));
    expect(texts(await history({ userId: "101", before: page.nextBefore }))).toEqual(names(1, 10));
  });

  test("a limit of 1000 counts as 500, and one below 1 is an error", async () => {
    for (let at = 0; at < 510; at += 30) {
      await Promise.all(
        names(at + 1, at + 30).map((name) =>
          app.ok("archive_turn", {
            userId: "102",
            channel: "web",
            userMessage: name,
            assistantMessage: name,
          }),
        ),
      );
    }
    const page = await history({ userId: "102", limit: 1000 });
    expect(page.messages).toHaveLength(500);
    expect(page.nextBefore).not.toBeNull();
    for (const limit of [0, -1, 1.5]) {
      const { error } = await app.call("get_chat_history", { userId: "102", limit });
      expect(error?.code).toBe("INVALID_INPUT");
    }
  });

  test("pages of messages with one timestamp neither overlap nor skip", async () => {
    await receive(103, 45, () => TELEGRAM_DATE);
    expect(await allPages("103", 10)).toEqual(names(1, 45));
    expect(await allPages("103", 7)).toEqual(names(1, 45));
  });

  test("pages stay whole while messages arrive", async () => {
    await receive(104, 20, () => TELEGRAM_DATE);
    const newest = await history({ userId: "104", limit: 5 });
    await app.telegram(
      privateMessage(104, { message_id: 99, text: "late", date: TELEGRAM_DATE + 60 }),
    );
    const older = await history({ userId: "104", limit: 500, before: newest.nextBefore });
    expect([...texts(older), ...texts(newest)]).toEqual(names(1, 20));
  });

  test("inbound and outbound are interleaved in the order they happened", async () => {
    const turn = (userMessage: string, assistantMessage: string, observedAt: string) =>
      app.ok("archive_turn", {
        userId: "105",
        channel: "web",
        userMessage,
        assistantMessage,
        observedAt,
      });
    await turn("question", "answer", "2026-03-01T10:00:00Z");
    await turn("thanks", "welcome", "2026-03-01T10:00:00Z");
    await app.telegram(
      privateMessage(105, { message_id: 1, text: "before", date: TELEGRAM_DATE - 5 }),
    );
    const page = await history({ userId: "105" });
    expect(page.messages.map((m) => [m.direction, m.text])).toEqual([
      ["inbound", "before"],
      ["inbound", "question"],
      ["outbound", "answer"],
      ["inbound", "thanks"],
      ["outbound", "welcome"],
    ]);
  });

  test("before is exclusive and takes every spelling of one point in time", async () => {
    await receive(106, 3, (i) => TELEGRAM_DATE + i - 2);
    for (const before of [
      "2026-03-01T10:00:00Z",
      "2026-03-01T10:00:00.000000Z",
      "2026-03-01T12:00:00+02:00",
      "2026-03-01T12:00:00+0200",
      "2026-03-01t10:00:00z",
      "2026-03-01T05:30:00-04:30",
    ]) {
      expect(texts(await history({ userId: "106", before }))).toEqual(["m1"]);
    }
    expect(texts(await history({ userId: "106", before: "2026-03-01T10:00:00.000001Z" }))).toEqual([
      "m1",
      "m2",
    ]);
  });

  test.each([
    "yesterday",
    "2026-03-01",
    "2026-03-01T10:00Z",
    "2026-02-30T10:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "c1.e30",
  ])("before %s is INVALID_INPUT with an example of the right form", async (before) => {
    await receive(107, 1);
    const { error } = await app.call("get_chat_history", { userId: "107", before });
    expect(error?.code).toBe("INVALID_INPUT");
    expect(error?.hint).toMatch(/2026-03-01T10:00:00Z|nextBefore/);
  });

  test("a cursor works for its own person only", async () => {
    await receive(108, 3);
    await receive(109, 3);
    const { nextBefore } = await history({ userId: "108", limit: 1 });
    const { error } = await app.call("get_chat_history", { userId: "109", before: nextBefore });
    expect(error?.code).toBe("INVALID_INPUT");
  });

  test("a page ends early at 100 KB and goes on from there", async () => {
    for (let i = 1; i <= 12; i++) {
      await app.ok("archive_turn", {
        userId: "110",
        channel: "web",
        userMessage: `q${i}`,
        assistantMessage: `${i} ${"x".repeat(30_000)}`,
      });
    }
    const page = await history({ userId: "110", limit: 500 });
    expect(JSON.stringify(page).length).toBeLessThan(101_000);
    expect(page.nextBefore).not.toBeNull();
    expect(await allPages("110", 500)).toHaveLength(24);
  });
});
