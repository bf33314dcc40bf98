import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { type McpOptions, mountMcp } from "../../src/mcp/mount.ts";
import { member } from "../mcp/mcp-under-test.ts";
import { createDatabase } from "../support/database.ts";
import { ServerProcess } from "../support/server-process.ts";
import { servePrompts, serveResources } from "./resources-and-prompts.ts";
import { serveTools } from "./tools.ts";

const SUITE = new URL("../../node_modules/@modelcontextprotocol/conformance/", import.meta.url);
/** Thirty to fifty scenarios in a process of their own, on a machine that may be busy. */
const timeout = 240_000;

/** Tools, resources and prompts that the suite asks for by name. */
const fixtures: Pick<McpOptions, "tools" | "describe"> = {
  tools: [],
  describe: (server) => {
    serveTools(server);
    serveResources(server);
    servePrompts(server);
  },
};

/** The production mount in an app of its own. The suite's tools are no product's, and the server takes no others. */
async function serveFixtures(): Promise<string> {
  const app = Fastify();
  onTestFinished(() => app.close());
  const authenticate = async () => member;
  await mountMcp(app, { name: "conformance", version: "1.0.0", authenticate, ...fixtures });
  return app.listen({ host: "127.0.0.1", port: 0 });
}

/** The suite sends no key: only a server that asks for none can be asked by it. */
async function serveSouvenir(): Promise<string> {
  const { env, dispose } = await createDatabase("embedded");
  onTestFinished(dispose);
  return (await ServerProcess.ready({ ...env, AUTH: "none" })).url;
}

async function runSuite(server: string, ...args: string[]) {
  const script = fileURLToPath(new URL("dist/index.js", SUITE));
  const child = spawn(process.execPath, [script, "server", "--url", `${server}/mcp`, ...args]);
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  child.stderr.on("data", (chunk) => (output += chunk));
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, output };
}

async function requiredScenarios(revision: string): Promise<string[]> {
  const text = await readFile(new URL(`requirements/${revision}.yaml`, SUITE), "utf8");
  const [, section = ""] = /^server:\n((?: {2}.*\n)+)/m.exec(text) ?? [];
  return [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
}

test("the mount passes all that revision 2026-07-28 requires of a server", {
  timeout,
}, async () => {
  const { code, output } = await runSuite(await serveFixtures(), "--requirements", "2026-07-28");
  const required = await requiredScenarios("2026-07-28");
  expect(required).toHaveLength(37);
  const failed = required.filter((name) => !output.includes(`✓ ${name}: `));
  expect(failed, output).toEqual([]);
  expect(code, output).toBe(0);
});

test("the mount passes what 2025-11-25 requires, but for what needs a session", {
  timeout,
}, async () => {
  const baseline = fileURLToPath(new URL("baseline-2025.yml", import.meta.url));
  const args = ["--requirements", "2025-11-25", "--expected-failures", baseline];
  const { code, output } = await runSuite(await serveFixtures(), ...args);
  const required = await requiredScenarios("2025-11-25");
  expect(required).toHaveLength(30);
  const failed = required.filter((name) => !output.includes(`✓ ${name}: `));
  expect(failed, output).toEqual([
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
  ]);
  expect(code, output).toBe(0);
});

test("the server itself, with its own tools, passes what needs no fixture", {
  timeout,
}, async () => {
  const server = await serveSouvenir();
  for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
    const { code, output } = await runSuite(server, "--scenario", scenario);
    expect(output).not.toContain("✗");
    expect(code, output).toBe(0);
  }
});
