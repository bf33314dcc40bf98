import type { TestApp } from "../support/app.ts";
import { privateMessage, TELEGRAM_DATE } from "../support/telegram.ts";

let nextMessage = 1;

/** What an agent sees of a person, without ids and times. */
export async function memoryOf(app: TestApp, userId: string, key?: string) {
  const context = await app.ok("get_user_context", { userId, recentLimit: 100 }, key);
  const recalled = await app.ok("recall", { userId, scopes: ["user"], limit: 50 }, key);
  const user = context.user as { id: string; status: string; identities: { channel: string }[] };
  return {
    id: user.id,
    status: user.status,
    channels: user.identities.map(({ channel }) => channel).sort(),
    entries: context.memory as Record<string, unknown>,
    said: (context.recentMessages as { text: string; channel: string }[]).map(
      ({ text, channel }) => `${channel}: ${text}`,
    ),
    facts: (recalled.facts as { key: string; value: unknown; contested: boolean }[])
      .map(({ key: name, value, contested }) => `${name}=${value}${contested ? "?" : ""}`)
      .sort(),
    memoryBlock: String(recalled.memoryBlock),
  };
}

export async function links(app: TestApp, to: string, other: string): Promise<string> {
  const { status, body } = await app.v1("POST", `/v1/users/${to}/links`, {
    with: other,
    reason: "the same person",
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return String(body.id);
}

export async function undo(app: TestApp, linkId: string): Promise<void> {
  const { status, body } = await app.v1("POST", `/v1/links/${linkId}/undo`, {});
  if (status !== 200) throw new Error(JSON.stringify(body));
}

export async function saysOnTelegram(app: TestApp, person: number, text: string, date = 0) {
  const message = { message_id: nextMessage++, text, date: TELEGRAM_DATE + date };
  const { status } = await app.telegram(privateMessage(person, message));
  if (status !== 200) throw new Error(`not archived: ${status}`);
}

export const remembers = (app: TestApp, userId: string, key: string, value: unknown, more = {}) =>
  app.ok("remember_fact", { scope: "user", userId, key, value, ...more });

export const saysOnWeb = (app: TestApp, userId: string, text: string) =>
  app.ok("archive_turn", { userId, channel: "web", userMessage: text, assistantMessage: "noted" });
