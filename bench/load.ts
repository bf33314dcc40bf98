import autocannon from "autocannon";
import type { ServerProcess } from "./server-process.ts";
import { quantile } from "./statistics.ts";

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the next request. */
  readonly body: () => string;
}

/** Latencies are milliseconds from a request's first byte sent to its answer's last byte. */
export interface Load {
  readonly calls: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** CPU microseconds of the server's process for each request. */
  readonly cpuMicros: number;
}

/** How often autocannon looks whether its time is over. */
const TICK_MS = 100;

/**
 * Posts as fast as the answers come, each connection one request at a time.
 *
 * @throws when a request failed or a tool answered with an error: the speed of failing is not what was asked
 */
export async function load(
  server: ServerProcess,
  target: Target,
  shape: { connections: number; seconds: number },
): Promise<Load> {
  const cpuBefore = await server.cpuMicros();
  const { latencies, seconds } = await post(target, shape);
  const cpu = (await server.cpuMicros()) - cpuBefore;
  return {
    calls: latencies.length,
    requestsPerSecond: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p95: quantile(latencies, 0.95),
    p99: quantile(latencies, 0.99),
    cpuMicros: cpu / latencies.length,
  };
}

async function post(
  { url, headers, body }: Target,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<{ latencies: number[]; seconds: number }> {
  const latencies: number[] = [];
  const start = performance.now();
  let last = start;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url,
        connections,
        duration: seconds,
        sampleInt: TICK_MS,
        method: "POST",
        headers: { ...headers },
        requests: [{ setupRequest: (request) => ({ ...request, body: body() }) }],
        verifyBody: (answer) => answer !== undefined && !answer.includes('"isError":true'),
      },
      (error: unknown, done) => (error ? reject(error) : resolve(done)),
    );
    run.on("response", (_client, _status, _bytes, milliseconds) => {
      latencies.push(milliseconds);
      last = performance.now();
    });
  });
  const failed = result.errors + result.timeouts + result.non2xx + result.mismatches;
  if (failed > 0) throw new Error(`${failed} of ${latencies.length} requests to ${url} failed`);
  if (latencies.length === 0) throw new Error(`no answer of ${url} within ${seconds} s`);
  return { latencies, seconds: (last - start) / 1000 };
}
