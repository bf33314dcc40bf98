import { createHmac } from "node:crypto";
import { openApp, type TestApp } from "../support/app.ts";
import { TestClock } from "../support/clock.ts";
import type { Engine } from "../support/database.ts";
import { delivery, message } from "./fixtures.ts";

const SECRET = "app-secret-of-the-tests";

interface Shown {
  readonly id: string;
  readonly text: string | null;
  readonly kind: string;
  readonly direction: string;
  readonly edited: boolean;
}

interface PersonShown {
  readonly id: string;
  readonly username: string;
  readonly firstName: string;
  readonly status: string;
  readonly identities: readonly { readonly externalId: string }[];
}

/** A server with a WhatsApp account, and what tests ask of it. */
export async function openWhatsapp(engine: Engine) {
  const app: TestApp = await openApp(engine, {
    clock: new TestClock("2026-03-01T10:00:10.000Z").now,
    secretOf: (variable) => `secret-in-${variable}`,
    env: { WHATSAPP_APP_SECRET: SECRET, WHATSAPP_VERIFY_TOKEN: "verify-me" },
    background: false,
  });
  /** @returns the status */
  const post = async (body: object, account = "main", secret = SECRET): Promise<number> => {
    const payload = JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(payload).digest("hex");
    const { statusCode } = await app.http.inject({
      method: "POST",
      url: `/webhooks/whatsapp/${account}`,
      headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` },
      payload,
    });
    return statusCode;
  };
  const deliver = async (...bodies: object[]): Promise<void> => {
    for (const body of bodies) {
      const status = await post(body);
      if (status !== 200) throw new Error(`answered ${status}`);
    }
  };
  const person = async (userId: string, key?: string) =>
    (await app.ok("get_user_context", { userId }, key)).user as PersonShown;
  const history = async (userId: string, key?: string) =>
    (await app.ok("get_chat_history", { userId }, key)).messages as Shown[];
  return {
    app,
    post,
    deliver,
    person,
    history,
    texts: async (userId: string, key?: string) =>
      (await history(userId, key)).map(({ text }) => text),
    isKnown: async (userId: string) =>
      (await app.call("get_user_context", { userId })).error === undefined,
    idsOf: async (userId: string) =>
      (await person(userId)).identities.map(({ externalId }) => externalId).sort(),
  };
}

/** A delivery of one message of Ana's number and id, but for `fields`. */
export const said = (fields: object, contacts: object[] = []) =>
  delivery({ contacts, messages: [message(fields)] });
