import autocannon from "autocannon";

export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the next request. */
  readonly body: () => string;
}

export interface Load {
  readonly requestsPerSecond: number;
  /** Milliseconds from a request's first byte sent to its answer's last byte. */
  readonly latencies: readonly number[];
}

/** How often autocannon looks whether its time is over. */
const TICK_MS = 100;

/**
 * Posts as fast as the answers come, each connection one request at a time.
 *
 * @throws when a request failed or a tool answered with an error: the speed of failing is not what was asked
 */
export async function load(
  { url, headers, body }: Target,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Load> {
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
  return { requestsPerSecond: (latencies.length * 1000) / (last - start), latencies };
}
