import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { OWNER_KEY } from "./support/app.ts";
import { createDatabase } from "./support/database.ts";
import { ServerProcess } from "./support/server-process.ts";

const INSPECTOR = join(
  import.meta.dirname,
  "../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);
const requestInit = { headers: { authorization: `Bearer ${OWNER_KEY}` } };
const userId = "telegram:5000000001";
const value = { city: "Lyon", since: 2019, "ordre gardé": [null, 1.5, "10.5"] };

/** @throws with its output when it exits with a failure */
async function inspect(url: string, ...words: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...[INSPECTOR, "--cli", `${url}/mcp`, "--transport", "http"],
      ...["--header", `Authorization: Bearer ${OWNER_KEY}`, ...words],
    ],
    // It keeps a catalogue in its user's home.
    { env: { HOME: join(tmpdir(), "souvenir-inspector-home") } },
  );
  return JSON.parse(stdout);
}

test("what one client wrote is there for every other client after a restart", async () => {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  const first = await ServerProcess.ready({ ...env, OWNER_KEY });
  const writer = new Client({ name: "writer", version: "0" });
  await writer.connect(
    new StreamableHTTPClientTransport(new URL(`${first.url}/mcp`), { requestInit }) as never,
  );
  expect(writer.getInstructions()).toContain("recall");
  await writer.listTools();
  const written = await writer.callTool({
    name: "update_memory",
    arguments: { userId, key: "profile", value },
  });
  expect(written.structuredContent).toMatchObject({ key: "profile", created: true });
  await writer.close();
  expect(await first.stop()).toBe(0);

  const second = await ServerProcess.ready({ ...env, OWNER_KEY });
  const read = { name: "get_user_context", arguments: { userId } };
  const expected = {
    memory: { profile: value },
    user: { identities: [{ externalId: "5000000001" }] },
  };
  for (const mode of ["auto", { pin: "2026-07-28" }] as const) {
    const reader = new ModernClient(
      { name: "reader", version: "0" },
      { versionNegotiation: { mode } },
    );
    await reader.connect(new ModernTransport(new URL(`${second.url}/mcp`), { requestInit }));
    expect((await reader.callTool(read)).structuredContent).toMatchObject(expected);
    await reader.close();
  }

  const args = ["--tool-args-json", JSON.stringify(read.arguments)];
  for (const era of [[], ["--protocol-era", "modern"]]) {
    const call = ["--method", "tools/call", "--tool-name", read.name, ...args, ...era];
    expect((await inspect(second.url, ...call)).structuredContent).toMatchObject(expected);
  }
  const { tools } = await inspect(second.url, "--strict", "--method", "tools/list");
  expect(tools).toHaveLength(11);
  expect(second.output).not.toMatch(/"level":[456]0/);
});
