import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { onBothDatabases } from "../support/database.ts";
import { editedMessage, privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";
import { ForwardingUnderTest } from "./forwarding-under-test.ts";

const ana = (id: number) => ({ id, is_bot: false, first_name: "Ana", username: `ana${id}` });

onBothDatabases((engine) => {
  const s = new ForwardingUnderTest(engine);

  describe("what the agent runtime hears", () => {
    test("a message, who wrote it and where", async () => {
      await s.write(s.one, 1, "Where is my order?");
      await s.forward();
      const { messages } = await s.app.ok("get_chat_history", { userId: `${s.one}` });
      const [archived] = messages as { id: string }[];
      const { user } = await s.app.ok("get_user_context", { userId: `${s.one}` });
      expect(s.runtime.received).toMatchObject([
        {
          type: "message.received",
          timestamp: "2026-03-01T10:00:30.000Z",
          data: {
            message: {
              ...{ id: archived?.id, kind: "text", text: "Where is my order?" },
              ...{ sentAt: "2026-03-01T10:00:00.000Z", editedAt: null },
              ...{ forwarded: false, optedOut: false, channel: "telegram", account: "main" },
              ...{ conversationId: `${s.one}`, payload: { message_id: 1 } },
            },
            user: {
              ...{ id: (user as { id: string }).id, username: `ana${s.one}`, firstName: "Ana" },
              ...{ role: "customer", identity: { channel: "telegram", externalId: `${s.one}` } },
            },
            conversation: { id: `${s.one}`, isPrivate: true },
            memory: { private: false, stableBlock: "", memoryBlock: "" },
          },
        },
      ]);
      expect(await s.deliveries("pending")).toEqual([]);
      expect(await s.query(sql`select 1 from forward_queues`)).toEqual([]);
    });

    test("pictures and buttons, words of others, and what is not to be remembered", async () => {
      const photo = [{ file_id: "F", file_unique_id: "u", width: 1, height: 1 }];
      await s.app.telegram(privateMessage(s.one, { message_id: 1, photo, caption: "look" }));
      await s.app.telegram({
        update_id: 90_001,
        callback_query: { id: "c", from: ana(s.one), chat_instance: "x", data: "yes" },
      });
      const origin = { type: "hidden_user", sender_user_name: "B", date: TELEGRAM_DATE };
      await s.write(s.one, 2, "I love opera", { forward_origin: origin });
      await s.write(s.one, 3, "my secret #noremember");
      await s.write(s.one, 4, "x".repeat(9_000));
      await s.forward();
      const told = s.runtime.received.map(({ data: { message } }) => [
        message.kind,
        message.forwarded,
        message.optedOut,
        message.payload !== null,
      ]);
      expect(told).toEqual([
        // All of it is one turn, of which nothing is remembered.
        ["photo", false, true, true],
        ["callback", false, false, true],
        ["text", true, true, true],
        ["text", false, true, true],
        ["text", false, true, false],
      ]);
    });

    test("an edit, with the new text, and a deletion, by its id alone", async () => {
      const place = { business_connection_id: "bc", chat: { id: s.one, type: "private" } };
      const message = { ...place, from: ana(s.one), message_id: 5, date: TELEGRAM_DATE };
      await s.app.telegram({ update_id: 90_011, business_message: { ...message, text: "helo" } });
      await s.forward();
      const edit = { ...message, text: "hello", edit_date: TELEGRAM_DATE + 9 };
      await s.app.telegram({ update_id: 90_012, edited_business_message: edit });
      await s.forward();
      const deletion = { ...place, message_ids: [5, 6] };
      await s.app.telegram({ update_id: 90_013, deleted_business_messages: deletion });
      await s.forward();
      const [received, edited, deleted] = s.runtime.received;
      expect(s.runtime.said).toEqual([
        "message.received helo",
        "message.edited hello",
        "message.deleted",
      ]);
      expect(edited?.data).toMatchObject({
        message: { id: received?.data.message.id, editedAt: "2026-03-01T10:00:09.000Z" },
        conversation: { id: `business:bc:${s.one}`, isPrivate: true },
      });
      expect(deleted?.data).toEqual({
        message: { id: received?.data.message.id, channel: "telegram", account: "main" },
        user: { id: received?.data.user.id },
      });
    });

    test("nothing of a message that is gone before it could be sent", async () => {
      const place = { business_connection_id: "bc", chat: { id: s.one, type: "private" } };
      const message = {
        ...place,
        from: ana(s.one),
        message_id: 5,
        date: TELEGRAM_DATE,
        text: "oops",
      };
      await s.app.telegram({ update_id: 90_021, business_message: message });
      const deletion = { ...place, message_ids: [5] };
      await s.app.telegram({ update_id: 90_022, deleted_business_messages: deletion });
      await s.forward();
      expect(s.runtime.said).toEqual(["message.deleted"]);
      expect(JSON.stringify(s.runtime.received)).not.toContain("oops");
    });

    test("neither services nor reactions, nor what was said on our side or archived as a turn", async () => {
      const chat = { id: s.one, type: "private" };
      await s.app.telegram(privateMessage(s.one, { message_id: 1, group_chat_created: true }));
      await s.app.telegram({ update_id: 90_031, some_future_update: { from: ana(s.one) } });
      await s.app.telegram({
        update_id: 90_032,
        message_reaction: {
          ...{ chat, message_id: 1, user: ana(s.one), date: TELEGRAM_DATE },
          ...{ old_reaction: [], new_reaction: [{ type: "emoji", emoji: "👍" }] },
        },
      });
      const turn = { channel: "web", userMessage: "a", assistantMessage: "b" };
      await s.app.ok("archive_turn", { userId: `${s.one}`, ...turn });
      await s.forward();
      expect(s.runtime.received).toEqual([]);
      expect(await s.deliveries("pending")).toEqual([]);
    });

    test("a redelivered update once, and an edit that changes nothing not at all", async () => {
      const update = privateMessage(s.one, { message_id: 1, text: "once" });
      await s.app.telegram(update);
      await s.app.telegram(update);
      await s.app.telegram({ ...update, update_id: 90_041 });
      await s.app.telegram(
        editedMessage(s.one, { message_id: 1, text: "once", edit_date: TELEGRAM_DATE + 5 }),
      );
      await s.forward();
      expect(s.runtime.said).toEqual(["message.received once"]);
    });
  });

  describe("only of people who are approved", () => {
    const setStatus = (status: string) => s.query(sql`update users set status = ${status}`);

    test("nothing of who waits for approval or is blocked, nor an edit of what came before", async () => {
      await s.write(s.one, 1, "hello");
      await s.forward();
      await setStatus("pending");
      await s.write(s.one, 2, "pending");
      await s.app.telegram({
        update_id: 90_021,
        callback_query: { id: "p", from: ana(s.one), chat_instance: "x", data: "pending" },
      });
      await setStatus("approved");
      const edit = { message_id: 2, text: "edited", edit_date: TELEGRAM_DATE + 5 };
      await s.app.telegram(editedMessage(s.one, edit));
      await s.write(s.one, 3, "approved");
      await setStatus("blocked");
      await s.write(s.one, 4, "blocked");
      await setStatus("approved");
      await s.forward();
      expect(s.runtime.said).toEqual(["message.received hello", "message.received approved"]);
    });

    test("what waits of somebody who is blocked meanwhile is dropped", async () => {
      await s.write(s.one, 1);
      await setStatus("blocked");
      await s.forward();
      await setStatus("approved");
      expect(s.runtime.received).toEqual([]);
      expect(await s.query(sql`select 1 from forward_deliveries`)).toEqual([]);
    });
  });

  describe("memory", () => {
    test("is of who asks, and marked private where others read along", async () => {
      await s.app.ok("remember_fact", {
        scope: "user",
        userId: `${s.one}`,
        key: "diet",
        value: "vegan",
      });
      await s.app.ok("remember_fact", {
        scope: "user",
        userId: `${s.two}`,
        key: "diet",
        value: "meat",
      });
      await s.app.ok("remember_fact", { scope: "org", key: "tone", value: "kind" });
      await s.write(s.one, 1, "what is my diet?");
      const group = { id: -100_200, type: "supergroup", title: "g" };
      const message = { message_id: 8, date: TELEGRAM_DATE, chat: group, from: ana(s.one) };
      await s.app.telegram({ update_id: 90_051, message: { ...message, text: "and here?" } });
      await s.forward();
      const [alone, among] = s.runtime.received.map(({ data }) => data);
      expect(alone.memory).toMatchObject({ private: false, userId: alone.user.id });
      expect(alone.memory.memoryBlock).toMatch(/vegan/);
      expect(alone.memory.memoryBlock).not.toMatch(/meat/);
      expect(alone.memory.etag).toEqual(expect.any(String));
      expect(among.conversation).toEqual({ id: "-100200", isPrivate: false });
      expect(among.memory).toMatchObject({ private: true, userId: alone.user.id });
      expect(among.memory.memoryBlock).not.toMatch(/meat/);
    });

    test("is null where it is off", async () => {
      await s.app.v1("PATCH", "/v1/memory", { enabled: false });
      await s.write(s.one, 1);
      await s.forward();
      expect(s.runtime.received).toMatchObject([{ data: { memory: null } }]);
    });
  });
});
