import { once } from "node:events";
import { Agent, get, request } from "node:http";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../src/errors.ts";
import { loggerOptions } from "../../src/http/log.ts";
import { Metrics } from "../../src/http/metrics.ts";
import { buildHttp } from "../../src/http/server.ts";
import { mountMcp } from "../../src/mcp/mount.ts";

interface Built {
  readonly app: FastifyInstance;
  readonly log: () => string;
}

function build(ready: () => Promise<void>): Built {
  let log = "";
  const stream = {
    write: (line: string) => {
      log += line;
    },
  };
  const app = buildHttp({
    logger: loggerOptions("debug", stream),
    metrics: new Metrics(),
    ready,
    allowedHosts: ["Memory.example"],
  });
  onTestFinished(() => app.close());
  return { app, log: () => log };
}

const away = async () => {
  throw new AppError("UNAVAILABLE", "the database cannot be used right now");
};

test("a process whose database is away is alive, and says why it is not ready", async () => {
  const { app, log } = build(away);
  expect((await app.inject("/healthz")).json()).toEqual({ ok: true });
  const { statusCode, headers, body } = await app.inject("/readyz");
  expect(statusCode).toBe(503);
  expect(headers).toMatchObject({
    "content-type": "application/problem+json; charset=utf-8",
    "retry-after": "5",
  });
  expect(JSON.parse(body)).toMatchObject({
    code: "UNAVAILABLE",
    detail: "the database cannot be used right now",
  });
  expect(log()).toBe("");
});

test("a database that never answers makes the process not ready instead of keeping the caller waiting", async () => {
  const { app } = build(() => new Promise(() => {}));
  await app.ready();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = app.inject("/readyz");
  await vi.waitUntil(() => vi.getTimerCount() > 0);
  vi.advanceTimersByTime(2_000);
  const { statusCode, body } = await answer;
  expect([statusCode, JSON.parse(body).detail]).toEqual([503, "the database does not answer"]);
});

test("an unexpected error is logged once, with its place and without its words, and answered in neutral ones", async () => {
  const { app, log } = build(async () => {});
  app.get("/broken", async () => {
    throw Object.assign(new TypeError("quokka"), { code: "ERR_X", cause: new Error("quokka") });
  });
  const { statusCode, body } = await app.inject("/broken?token=quokka");
  expect([statusCode, JSON.parse(body).code]).toEqual([500, "INTERNAL"]);
  expect(body + log()).not.toContain("quokka");
  const lines = log()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [error, ...others] = lines.filter(({ level }) => level === 50);
  expect(others).toEqual([]);
  expect(error.err).toMatchObject({ type: "TypeError", code: "ERR_X", cause: { type: "Error" } });
  expect(error.err.stack[0]).toContain("server.test.ts");
});

test("an address that is not there is told apart from a broken one", async () => {
  const { app } = build(async () => {});
  const { statusCode, body } = await app.inject("/nothing");
  expect([statusCode, JSON.parse(body).code]).toEqual([404, "NOT_FOUND"]);
});

test("metrics count routes by their pattern, never by what stands in the address", async () => {
  const { app } = build(async () => {});
  app.get("/things/:id", async () => ({}));
  await app.inject("/things/quokka");
  await app.inject("/quokka");
  const { body } = await app.inject("/metrics");
  expect(body).toContain(
    'souvenir_http_request_seconds_count{route="/things/:id",method="GET",status="200"} 1',
  );
  expect(body).toContain('{route="unknown",method="GET",status="404"} 1');
  expect(body).not.toContain("quokka");
});

test("a trailing slash changes nothing and redirects nobody", async () => {
  const { app } = build(async () => {});
  app.post("/things/:id", async (request) => ({ got: request.params }));
  for (const url of ["/healthz/", "/readyz/", "/metrics/", "/metrics/?x=1"]) {
    expect((await app.inject(url)).statusCode, url).toBe(200);
  }
  const { body } = await app.inject({ method: "POST", url: "/things/7/" });
  expect(JSON.parse(body)).toEqual({ got: { id: "7" } });
});

test("metrics are not for a page that made its name point here, health is for everybody", async () => {
  const { app } = build(async () => {});
  const status = async (url: string, headers: Record<string, string>) =>
    (await app.inject({ url, headers })).statusCode;
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
    for (const url of ["/metrics", "/metrics/"]) expect(await status(url, headers)).toBe(403);
    for (const url of ["/healthz", "/readyz"]) expect(await status(url, headers)).toBe(200);
  }
  expect(await status("/metrics", { host: "memory.example:3000" })).toBe(200);
});

/** Sends bytes on a connection of its own; `received` is what came back so far. */
async function dial(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
  });
  await once(socket, "connect");
  return { socket, received: () => received };
}

test.each(["/taken", "/nothing", "/healthz"])(
  "two Host headers are refused, since nobody knows which one was meant (%s)",
  async (path) => {
    const { app } = build(async () => {});
    app.get("/taken", async () => ({}));
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    for (const other of ["localhost", "evil.example"]) {
      const { socket, received } = await dial(url);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nhOsT: ${other}\r\nConnection: close\r\n\r\n`,
      );
      await once(socket, "close");
      expect(received()).toMatch(/^HTTP\/1\.1 400 /);
      expect(received()).toContain("application/problem+json");
    }
  },
);

test.each([
  ["/mcp", '"jsonrpc":"2.0","error":{"code":-32000,"message":"the server is stopping'],
  ["/taken", '"status":503,"code":"UNAVAILABLE","detail":"the server is stopping'],
  ["/nothing", '"status":503,"code":"UNAVAILABLE","detail":"the server is stopping'],
])(
  "a request that comes while the server stops is told to come again, in the words of %s",
  async (path, words) => {
    const { app } = build(async () => {});
    let served = false;
    app.post("/taken", async () => {
      served = true;
      return {};
    });
    await mountMcp(app, {
      name: "under-test",
      version: "1.0.0",
      tools: [],
      authenticate: async () => {
        served = true;
        return undefined;
      },
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const { socket, received } = await dial(url);
    // The answer to the first tells that the server has the beginning of the second: it will not be closed as idle.
    socket.write(
      `GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nPOST ${path} HTTP/1.1\r\nHost: localhost\r\n`,
    );
    await expect.poll(received).toContain('{"ok":true}');
    const closed = app.close();
    await expect.poll(() => app.server.listening).toBe(false);
    socket.write("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    await once(socket, "close");
    const [, answer = ""] = received().split('{"ok":true}');
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain(words);
    expect(answer).toMatch(/^retry-after: 5\r$/im);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(served).toBe(false);
    await closed;
  },
);

test("a stop hangs up on a request that never arrives whole, and on a connection that its client keeps", async () => {
  const { app } = build(async () => {});
  const begun = Promise.withResolvers<void>();
  app.addHook("onRequest", async ({ method }) => {
    if (method === "POST") begun.resolve();
  });
  app.post("/taken", async () => ({}));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const [answer] = await once(get(`${url}/healthz`, { agent }), "response");
  answer.resume();
  const half = request(`${url}/taken`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-length": "100" },
  });
  const hungUp = once(half, "error");
  half.write("{");
  await begun.promise;

  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = app.close();
  // Polling by vitest would move the clock.
  while (vi.getTimerCount() === 0) await setImmediate();
  vi.advanceTimersByTime(6_000);
  expect((await hungUp)[0].code).toBe("ECONNRESET");
  await closed;
});

test("a stop is over once the running request was answered, although its client keeps the connection", async () => {
  const { app } = build(async () => {});
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  app.get("/slow", async () => {
    begun.resolve();
    await end.promise;
    return { done: true };
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const answered = once(get(`${url}/slow`, { agent }), "response");
  await begun.promise;

  // Nothing but the drain may end it: the clock of the hang-up stands still.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const closed = app.close();
  while (vi.getTimerCount() === 0) await setImmediate();
  end.resolve();
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(200);
  await closed;
});
