import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chatMessages } from "../../src/db/schema/chat.ts";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

const DAY = new Date(TELEGRAM_DATE * 1000).toISOString();

function message(person: number, id: number, text: string | null, over: object = {}) {
  return {
    direction: "inbound",
    kind: "text",
    text,
    sentAt: DAY,
    conversationId: `export:${person}`,
    platformMessageId: `export:${person}:${id}`,
    sender: { externalId: `${person}`, firstName: "Old name" },
    forwarded: false,
    payload: { id, text },
    ...over,
  };
}

onBothDatabases((engine) => {
  let app: TestApp;
  const clock = new TestClock();
  beforeAll(async () => {
    app = await openApp(engine, { clock: clock.now, background: false });
  });
  afterAll(() => app.dispose());

  const post = async (messages: object[], options: object = {}) => {
    const body = { channel: "telegram", account: "import", ...options, messages };
    const answer = await app.v1("POST", "/v1/imports/messages", body);
    return answer.status === 200 ? answer.body : answer;
  };
  const history = async (userId: string) => {
    const { messages } = await app.ok("get_chat_history", { userId });
    return messages as { text: string; edited: boolean; direction: string }[];
  };
  const texts = async (userId: string) => (await history(userId)).map(({ text }) => text);
  const indexed = () => app.jobs.runNow("search.index");

  test("history is archived once, in the order of the file, and found after the index ran", async () => {
    const batch = [
      message(301, 1, "Do you have walrus boots?"),
      message(301, 2, "Yes, in blue.", { direction: "outbound" }),
      message(301, 3, null, { kind: "sticker" }),
    ];
    expect(await post(batch)).toEqual({ outcomes: ["new", "new", "new"], newPeople: ["301"] });
    expect(await post(batch)).toEqual({
      outcomes: ["present", "present", "present"],
      newPeople: [],
    });
    expect(await texts("301")).toEqual(["Do you have walrus boots?", "Yes, in blue.", null]);

    const recall = () => app.ok("recall", { userId: "301", query: "walrus boots" });
    expect((await recall()).messages).toEqual([]);
    await indexed();
    expect((await recall()).messages).toMatchObject([
      { text: "Do you have walrus boots?" },
      { text: "Yes, in blue." },
    ]);
  });

  test("a dry run says what would happen and leaves every table as it was", async () => {
    await post([message(302, 1, "as it was")]);
    const edited = message(302, 1, "as it is", { editedAt: "2026-03-02T00:00:00Z" });
    const answer = await post([edited, message(303, 1, "hello"), message(303, 1, "hello")], {
      dryRun: true,
      update: true,
    });
    expect(answer).toEqual({ outcomes: ["changed", "new", "present"], newPeople: ["303"] });
    expect(await texts("302")).toEqual(["as it was"]);
    expect((await app.call("get_user_context", { userId: "303" })).error?.code).toBe("NOT_FOUND");
  });

  test("people are pending unless they are approved with the import, and keep the names they have", async () => {
    await app.telegram(privateMessage(304, { message_id: 1, text: "hi" }));
    await post([message(304, 1, "a"), message(305, 1, "b")]);
    await post([message(306, 1, "c"), message(304, 2, "d")], { approve: true });
    const profile = async (userId: string) =>
      (await app.ok("get_user_context", { userId })).user as Record<string, unknown>;
    expect(await profile("304")).toMatchObject({ firstName: "Ana", status: "pending" });
    expect(await profile("305")).toMatchObject({ firstName: "Old name", status: "pending" });
    expect(await profile("306")).toMatchObject({ status: "approved" });
  });

  test("what was edited since is told, and replaced when asked, with the earlier text as a revision", async () => {
    await post([message(307, 1, "first"), message(307, 2, "stays")], { approve: true });
    const at = (day: number) => ({ editedAt: `2026-03-0${day}T00:00:00Z` });
    const edit = message(307, 1, "second", at(3));
    expect(await post([edit])).toMatchObject({ outcomes: ["changed"] });
    expect(await texts("307")).toEqual(["first", "stays"]);
    expect(await post([edit], { update: true })).toMatchObject({ outcomes: ["updated"] });
    expect(await post([edit], { update: true })).toMatchObject({ outcomes: ["present"] });
    expect(await texts("307")).toEqual(["second", "stays"]);
    // An export from before the edit, and one whose words differ for no reason that it tells.
    const older = [message(307, 1, "first"), message(307, 1, "between", at(2))];
    for (const one of older)
      expect(await post([one], { update: true })).toMatchObject({ outcomes: ["differs"] });
    expect(await texts("307")).toEqual(["second", "stays"]);
    await indexed();
    const found = await app.ok("recall", { userId: "307", query: "second" });
    expect(JSON.stringify(found.messages)).toMatch(/"second"(?!.*"first")/);
  });

  test("the same id twice in a batch is one message: the one that was edited last", async () => {
    const twice = [
      message(308, 1, "one"),
      message(308, 1, "two", { editedAt: "2026-03-02T00:00:00Z" }),
    ];
    expect(await post(twice)).toMatchObject({ outcomes: ["present", "new"] });
    expect(await post(twice, { update: true })).toMatchObject({
      outcomes: ["present", "present"],
    });
    expect(await texts("308")).toEqual(["two"]);
  });

  test("a supergroup's messages that the webhook archived are known by their ids", async () => {
    const group = { id: -1_000_000_000_555, type: "supergroup", title: "G" };
    const over = { message_id: 7, text: "said in the group", chat: group };
    await app.telegram(privateMessage(309, over));
    const same = message(309, 7, "said in the group", {
      conversationId: "-1000000000555",
      platformMessageId: "-1000000000555:7",
    });
    expect(await post([same], { account: "main" })).toMatchObject({ outcomes: ["present"] });
    expect(await post([same])).toMatchObject({ outcomes: ["new"] });
  });

  test("history belongs to no turn, and nothing is queued for it", async () => {
    const jobs = async () => JSON.stringify((await app.v1("GET", "/v1/jobs")).body);
    const before = await jobs();
    await post(
      [message(310, 1, "I live in Lyon"), message(310, 2, "Noted", { direction: "outbound" })],
      {
        approve: true,
      },
    );
    expect(await jobs()).toBe(before);
    const rows = await app.database.transactions.system("operator", (tx) =>
      tx.select({ turnId: chatMessages.turnId, account: chatMessages.account }).from(chatMessages),
    );
    const imported = rows.filter(({ account }) => account === "import");
    expect(imported.length).toBeGreaterThan(2);
    expect(imported.every(({ turnId }) => turnId === null)).toBe(true);
  });

  test("what somebody opted out of is archived and never found", async () => {
    await post([
      message(311, 1, "My narwhal is secret #noremember"),
      message(311, 2, "Your narwhal is safe", { direction: "outbound", optedOut: true }),
    ]);
    await indexed();
    expect(await texts("311")).toHaveLength(2);
    expect((await app.ok("recall", { userId: "311", query: "narwhal" })).messages).toEqual([]);
  });

  test("an import between two messages that are indexed already is found with them", async () => {
    await app.telegram(privateMessage(312, { message_id: 1, text: "osprey", date: TELEGRAM_DATE }));
    await post([message(312, 1, "kestrel nest")], { account: "main" });
    await app.telegram(
      editedMessage(312, { message_id: 1, text: "osprey flies", edit_date: TELEGRAM_DATE + 9 }),
    );
    await indexed();
    const found = await app.ok("recall", { userId: "312", query: "kestrel osprey" });
    expect(found.messages).toHaveLength(2);
  });

  test("two imports of the same people at once make each person and each message once", async () => {
    const batch = (from: number) =>
      Array.from({ length: 40 }, (_, at) => message(400 + ((at + from) % 10), at, `m${at}`));
    const answers = await Promise.all([post(batch(0)), post(batch(0)), post(batch(0).reverse())]);
    const made = answers.flatMap(
      (answer) => ("outcomes" in answer ? answer.outcomes : []) as string[],
    );
    expect(made.filter((outcome) => outcome === "new")).toHaveLength(40);
    for (let person = 400; person < 410; person++) expect(await texts(`${person}`)).toHaveLength(4);
  });

  describe("a request that is wrong is refused whole", () => {
    const over = (fields: object) => [message(399, 1, "fine"), message(399, 2, "x", fields)];
    const deep = JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`);
    test.each([
      ["no date", over({ sentAt: "yesterday" })],
      ["an unknown kind", over({ kind: "hologram" })],
      ["an external id with a line break", over({ sender: { externalId: "a\nb" } })],
      ["a payload too deep", over({ payload: { deep } })],
      ["half of a surrogate pair", over({ text: "\ud800" })],
      ["no message", []],
      ["too many", Array.from({ length: 501 }, (_, at) => message(399, at, "x"))],
    ])("%s", async (_name, messages) => {
      expect(await post(messages)).toMatchObject({ status: 400 });
      expect((await app.call("get_user_context", { userId: "399" })).error?.code).toBe("NOT_FOUND");
    });
  });
});
