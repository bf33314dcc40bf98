import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import Fastify from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mountMcp } from "../../src/mcp/mount.ts";
import { servePrompts, serveResources } from "./resources-and-prompts.ts";
import { serveTools } from "./tools.ts";

const suite = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const app = Fastify();
let url = "";

beforeAll(async () => {
  await mountMcp(app, {
    name: "conformance",
    version: "1.0.0",
    tools: [],
    describe: (server) => {
      serveTools(server);
      serveResources(server);
      servePrompts(server);
    },
    authenticate: async () => ({
      orgId: "org",
      keyId: "key",
      role: "member",
      defaultAgent: "atlas",
      pins: {},
    }),
  });
  url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
});
afterAll(() => app.close());

function runSuite(...options: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [suite, "server", "--url", url, ...options]);
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

test("the mount passes all that revision 2026-07-28 requires of a server", {
  timeout: 240_000,
}, async () => {
  const { code, output } = await runSuite("--requirements", "2026-07-28");
  expect(code, output).toBe(0);
  expect(output).toMatch(/37/);
});

test("the mount passes what 2025-11-25 requires, but for four scenarios that need a session", {
  timeout: 240_000,
}, async () => {
  const baseline = fileURLToPath(new URL("baseline-2025.yml", import.meta.url));
  const { code, output } = await runSuite(
    "--requirements",
    "2025-11-25",
    "--expected-failures",
    baseline,
  );
  expect(code, output).toBe(0);
});
