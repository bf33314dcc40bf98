import type { FastifyInstance } from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { AppError } from "../../src/errors.ts";
import { loggerOptions } from "../../src/http/log.ts";
import { Metrics } from "../../src/http/metrics.ts";
import { buildHttp } from "../../src/http/server.ts";

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
  const app = buildHttp({ logger: loggerOptions("debug", stream), metrics: new Metrics(), ready });
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
    title: "UNAVAILABLE",
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
  expect([statusCode, JSON.parse(body).title]).toEqual([500, "INTERNAL"]);
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
  expect([statusCode, JSON.parse(body).title]).toEqual([404, "NOT_FOUND"]);
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
