import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openApp } from "../../support/app.ts";
import { MESSAGES_SECRET } from "./posting.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/channels.md"), "utf8");

test("the documented signed post works as it stands", async () => {
  const commands = /```sh\n(BODY=[\s\S]*?)```/.exec(page)?.[1] ?? "";
  const app = await openApp("embedded", { env: { MESSAGES_SECRET } });
  const url = await app.http.listen({ host: "127.0.0.1", port: 0 });
  const { stdout } = await promisify(execFile)("sh", ["-c", commands], {
    env: { ...process.env, MESSAGES_SECRET, SOUVENIR_URL: url, NO_PROXY: "127.0.0.1" },
  });
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "archived" });
  const { messages } = await app.ok("get_chat_history", { userId: "web:visitor-7" });
  expect(messages).toMatchObject([{ text: "Do you ship to Lyon?", direction: "inbound" }]);
  await app.dispose();
});
