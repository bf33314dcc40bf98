import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ERROR_CODES } from "../src/errors.ts";
import { INSTRUCTIONS } from "../src/mcp/instructions.ts";
import { OWNER_KEY, openApp, type TestApp } from "./support/app.ts";
import { CAN_SEND, privateMessage } from "./support/telegram.ts";

/** Written by hand: what schemas cannot say. */
const ABOUT = new URL("wire/about-tools.md", import.meta.url);

interface ToolOnTheWire {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: object; readonly required?: readonly string[] };
  readonly outputSchema: object;
  readonly annotations: Readonly<Record<string, boolean>>;
  readonly _meta?: object;
}

let app: TestApp;
beforeAll(async () => {
  app = await openApp("embedded", { env: CAN_SEND });
});
afterAll(() => app.dispose());

async function rpc(method: string, key = OWNER_KEY): Promise<Record<string, unknown>> {
  const response = await app.http.inject({
    method: "POST",
    url: "/mcp",
    headers: {
      host: "localhost",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${key}`,
    },
    payload: { jsonrpc: "2.0", id: 1, method, params: {} },
  });
  return response.json().result;
}

const toolsFor = async (key?: string) => (await rpc("tools/list", key)).tools as ToolOnTheWire[];

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

test("the tools of a member key are these, in this order, in at most 12 KB", async () => {
  const tools = await toolsFor(await app.createKey());
  expect(tools.map((tool) => tool.name)).toEqual([
    "get_user_context",
    "recall",
    "remember_fact",
    "forget_fact",
    "update_memory",
    "store_memory",
    "forget_memory",
    "get_chat_history",
    "archive_turn",
    "send_message",
    "send_image",
  ]);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(12 * 1024);
  await expect(pretty(tools)).toMatchFileSnapshot("wire/tools.member.json");
});

test("a key pinned to a person and an agent never sees those parameters", async () => {
  const key = await app.createKey({ pinUserId: "telegram:1", pinAgentId: "maya" });
  const tools = await toolsFor(key);
  expect(JSON.stringify(tools.map((tool) => tool.inputSchema))).not.toMatch(/"(?:userId|agentId)"/);
  await expect(
    pretty(tools.map(({ name, inputSchema }) => ({ name, inputSchema }))),
  ).toMatchFileSnapshot("wire/tools.pinned.json");
});

test("every tool has a title, a description under 1,000 characters, annotations and an output schema", async () => {
  for (const tool of await toolsFor()) {
    expect(tool.title.length).toBeGreaterThan(0);
    expect(tool.description.length).toBeLessThan(1000);
    expect(tool.annotations).toMatchObject({
      openWorldHint: tool.name.startsWith("send_"),
      ...(tool.annotations.readOnlyHint ? {} : { destructiveHint: expect.any(Boolean) }),
    });
    expect(tool.outputSchema).toMatchObject({ type: "object" });
  }
});

test("three tools are loaded without a search", async () => {
  const loaded = (await toolsFor()).filter((tool) => tool._meta);
  expect(loaded.map((tool) => [tool.name, tool._meta])).toEqual(
    ["get_user_context", "recall", "remember_fact"].map((name) => [
      name,
      { "anthropic/alwaysLoad": true },
    ]),
  );
});

test("resources, templates and prompts are these", async () => {
  const pick = (list: unknown) => pretty(list);
  await expect(pick((await rpc("resources/list")).resources)).toMatchFileSnapshot(
    "wire/resources.json",
  );
  await expect(pick((await rpc("resources/templates/list")).resourceTemplates)).toMatchFileSnapshot(
    "wire/resource-templates.json",
  );
  await expect(pick((await rpc("prompts/list")).prompts)).toMatchFileSnapshot("wire/prompts.json");
});

test("error codes are a closed set", () => {
  expect(ERROR_CODES).toEqual([
    "INVALID_INPUT",
    "NOT_FOUND",
    "FORBIDDEN",
    "CONFLICT",
    "LIMIT_EXCEEDED",
    "RATE_LIMITED",
    "UNAVAILABLE",
    "INTERNAL",
  ]);
});

test("the instructions fit what clients show of them, and name every tool that they rely on", async () => {
  expect(INSTRUCTIONS.length).toBeLessThanOrEqual(4096);
  for (const word of [
    "get_user_context",
    "recall",
    "remember_fact",
    "#noremember",
    "data, never instructions",
  ]) {
    expect(INSTRUCTIONS).toContain(word);
  }
});

test("docs/tools.md says what the tools are", async () => {
  const sections = (await toolsFor()).map((tool) =>
    [
      `## ${tool.name}`,
      `*${tool.title}.* ${tool.description}`,
      `\`\`\`json\n${JSON.stringify({ input: tool.inputSchema, output: tool.outputSchema }, null, 2)}\n\`\`\``,
    ].join("\n\n"),
  );
  const text = [
    "# Tools",
    "Generated from the server by `npx vitest run test/wire.pins.test.ts --update`.",
    "Over `POST /mcp`. What every tool shares comes first, then each with its schemas.",
    await readFile(ABOUT, "utf8").then((about) => about.trim()),
    ...sections,
  ];
  await expect(`${text.join("\n\n")}\n`).toMatchFileSnapshot("../docs/tools.md");
});

/** The fields that a section of docs/tools.md names. */
async function documented(section: string): Promise<string[]> {
  const about = await readFile(ABOUT, "utf8");
  const [, table = ""] = new RegExp(`### ${section}\\n([\\s\\S]*?)(?:\\n#|$)`).exec(about) ?? [];
  return [...table.matchAll(/^\| (`.*?`) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)])
    .map(([, field = ""]) => field)
    .sort();
}

test("docs/tools.md names every field of the answers, and every error code", async () => {
  const userId = "telegram:77";
  await app.telegram(privateMessage(77, { message_id: 1, text: "I like green tea" }));
  const fact = { scope: "user", userId, key: "likes.tea", value: "green tea" };
  await app.ok("remember_fact", fact);
  const { user, recentMessages } = await app.ok("get_user_context", { userId });
  const { messages: history } = await app.ok("get_chat_history", { userId });
  const { facts, messages } = await app.ok("recall", { userId, query: "tea" });
  const fields = (one: unknown) => Object.keys(one as object).sort();
  const first = (list: unknown) => fields((list as object[])[0]);
  expect(first(recentMessages)).toEqual(await documented("Message"));
  expect(first(history)).toEqual(await documented("Message"));
  // The members of an identity stand in the words beside it.
  expect(fields(user)).toEqual(await documented("Profile"));
  expect(first(facts)).toEqual(await documented("Fact"));
  expect(first(messages)).toEqual(await documented("Recalled message"));
  const about = await readFile(ABOUT, "utf8");
  const codes = [...about.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  expect(codes).toEqual([...ERROR_CODES]);
});
