/**
 * The server that `throughput` loads, in a process of its own so that its CPU time can be told from the load
 * generator's: the production mount with one more tool that does nothing, and a bare Fastify echo on another port.
 */
import fastify from "fastify";
import { z } from "zod";
import { readConfig } from "../src/config.ts";
import { authentication } from "../src/http/authentication.ts";
import { loggerOptions } from "../src/http/log.ts";
import { Metrics } from "../src/http/metrics.ts";
import { RateLimit } from "../src/http/rate-limit.ts";
import { buildHttp } from "../src/http/server.ts";
import { INSTRUCTIONS } from "../src/mcp/instructions.ts";
import { mountMcp } from "../src/mcp/mount.ts";
import { registerPrompts } from "../src/mcp/prompts.ts";
import { registerResources } from "../src/mcp/resources.ts";
import { toolsOf } from "../src/mcp/souvenir.ts";
import { defineTool } from "../src/mcp/tool.ts";
import { VERSION } from "../src/version.ts";
import { openServices } from "./services.ts";

/** What the server tells the benchmark: where it listens, and CPU microseconds so far for each time it is asked. */
export type ServerReply =
  | { readonly kind: "listening"; readonly mcp: string; readonly echo: string }
  | { readonly kind: "cpu"; readonly micros: number };

const LOOPBACK = { host: "127.0.0.1", port: 0 };

const noop = defineTool({
  name: "noop",
  title: "Do nothing",
  description: "Does nothing.",
  input: z.strictObject({}),
  output: z.strictObject({}),
  annotations: { readOnlyHint: true, openWorldHint: false },
  handle: async () => ({}),
});

const config = readConfig(process.env);
const services = await openServices(config);
const { database, keys } = services;

const http = buildHttp({
  logger: loggerOptions(config.LOG_LEVEL),
  metrics: new Metrics(),
  ready: () => database.ping(),
  allowedHosts: [],
});
const rateLimit = new RateLimit(config.RATE_LIMIT_PER_MINUTE);
await mountMcp(http, {
  name: "souvenir",
  version: VERSION,
  instructions: INSTRUCTIONS,
  tools: [...toolsOf(services, () => false), noop],
  describe(server, surface) {
    registerResources(server, surface, services);
    registerPrompts(server, surface, services.recall);
  },
  authenticate: authentication({
    authenticate: (key) => keys.authenticate(key),
    anonymous: undefined,
    operatorToken: "",
    operator: () => Promise.reject(new Error("a benchmark has no operator")),
  }),
  charge: (principal, messages) => rateLimit.charge(principal.keyId, messages),
});

const echo = fastify();
echo.post("/", async ({ body }) => body);

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  tell({ kind: "cpu", micros: user + system });
});
process.once("disconnect", () => void close());
tell({
  kind: "listening",
  mcp: `${await http.listen(LOOPBACK)}/mcp`,
  echo: await echo.listen(LOOPBACK),
});

async function close(): Promise<void> {
  await http.close();
  await echo.close();
  await database.close();
}

function tell(reply: ServerReply): void {
  process.send?.(reply);
}
