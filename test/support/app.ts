import type { NewKey } from "../../src/access/service.ts";
import type { App, AppOptions } from "../../src/app.ts";
import { buildApp } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createDatabase, type Engine } from "./database.ts";

export const OWNER_KEY = "owner-key-of-the-tests-0123456789abcdef";
export const TELEGRAM_SECRET = "telegram-secret-of-the-tests";

/** A tool's answer: what it returned, or the error that a model sees. */
export type Answer =
  | { readonly value: Record<string, unknown>; readonly error?: undefined }
  | {
      readonly value?: undefined;
      readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
    };

/** A whole server over a database of its own, reached in process. */
export interface TestApp extends App {
  readonly env: Readonly<Record<string, string>>;
  /** Calls a tool over `/mcp`, by default with the owner key. */
  call(tool: string, args: Record<string, unknown>, key?: string): Promise<Answer>;
  /** The same, with the arguments sent byte for byte. */
  callRaw(tool: string, argumentsJson: string, key?: string): Promise<Answer>;
  /** Calls a tool and fails the test unless it succeeds. */
  ok(tool: string, args: Record<string, unknown>, key?: string): Promise<Record<string, unknown>>;
  /** Posts a Telegram update with the right secret; text is sent byte for byte. */
  telegram(update: object | string, account?: string): Promise<{ status: number; body: string }>;
  /** Makes a key of an org (made if need be) and returns it. */
  createKey(input?: Partial<NewKey>, org?: string): Promise<string>;
  v1(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object,
    org?: string,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  dispose(): Promise<void>;
}

interface TestAppOptions extends AppOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Keep using this database (a restart) rather than a new one. */
  readonly database?: Readonly<Record<string, string>>;
}

export async function openApp(engine: Engine, options: TestAppOptions = {}): Promise<TestApp> {
  const created = options.database ? undefined : await createDatabase(engine);
  const env = {
    OWNER_KEY,
    LOG_LEVEL: "silent",
    TELEGRAM_WEBHOOK_SECRET: TELEGRAM_SECRET,
    RATE_LIMIT_PER_MINUTE: "0",
    // Loading the model takes a second and 180 MB.
    EMBEDDER: "none",
    ...options.env,
    ...(created?.env ?? options.database),
  };
  const app = await buildApp(readConfig(env), options);
  await app.start({
    ready: () => {},
    failed: (error) => {
      throw error;
    },
  });
  await app.http.ready();
  return withShortcuts(app, env, async () => {
    await app.close();
    await created?.dispose();
  });
}

function withShortcuts(
  app: App,
  env: Readonly<Record<string, string>>,
  dispose: () => Promise<void>,
): TestApp {
  let id = 0;
  const callRaw = async (tool: string, argumentsJson: string, key = OWNER_KEY): Promise<Answer> => {
    const response = await app.http.inject({
      method: "POST",
      url: "/mcp",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${key}`,
      },
      payload: `{"jsonrpc":"2.0","id":${++id},"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":${argumentsJson}}}`,
    });
    const { result, error } = response.json();
    if (error) throw new Error(`${response.statusCode}: ${JSON.stringify(error)}`);
    if (!result.isError) return { value: result.structuredContent };
    return JSON.parse(result.content[0].text);
  };
  const call = (tool: string, args: Record<string, unknown>, key?: string) =>
    callRaw(tool, JSON.stringify(args), key);
  const v1: TestApp["v1"] = async (method, url, body, org) => {
    const response = await app.http.inject({
      method,
      url,
      headers: {
        authorization: `Bearer ${app.operatorToken}`,
        ...(org !== undefined && { "x-souvenir-org": org }),
      },
      ...(body && { payload: body }),
    });
    return { status: response.statusCode, body: response.body ? response.json() : {} };
  };
  return {
    ...app,
    env,
    call,
    callRaw,
    v1,
    dispose,
    async ok(tool, args, key) {
      const answer = await call(tool, args, key);
      if (answer.error) throw new Error(`${tool}: ${JSON.stringify(answer.error)}`);
      return answer.value;
    },
    async telegram(update, account = "main") {
      const response = await app.http.inject({
        method: "POST",
        url: `/webhooks/telegram/${account}`,
        headers: {
          "content-type": "application/json",
          "x-telegram-bot-api-secret-token": TELEGRAM_SECRET,
        },
        payload: typeof update === "string" ? update : JSON.stringify(update),
      });
      return { status: response.statusCode, body: response.body };
    },
    async createKey(input = {}, org) {
      if (org !== undefined) await v1("POST", "/v1/orgs", { slug: org });
      const { status, body } = await v1("POST", "/v1/keys", { name: "test", ...input }, org);
      if (status !== 201) throw new Error(JSON.stringify(body));
      return String(body.key);
    },
  };
}
