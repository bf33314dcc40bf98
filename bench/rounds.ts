import type { Case } from "./calls.ts";
import { type Load, load } from "./load.ts";
import type { ServerProcess } from "./server-process.ts";
import { median, rotated } from "./statistics.ts";

/** Each case has its turn in each round: what disturbs the machine for a while disturbs all of them. */
export const ROUNDS = 5;
const WARM_UP_SECONDS = 1;

/** @param shape `seconds` are those of each case in all rounds together */
export async function loadInRounds(
  server: ServerProcess,
  cases: readonly Case[],
  shape: { connections: number; seconds: number; signal: AbortSignal },
): Promise<Map<string, Load[]>> {
  const { connections, seconds, signal } = shape;
  const rounds = new Map<string, Load[]>(cases.map(({ name }) => [name, []]));
  for (const { target } of cases) {
    await load(server, target, { connections, seconds: Math.min(WARM_UP_SECONDS, seconds) });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, target } of rotated(cases, round)) {
      signal.throwIfAborted();
      rounds
        .get(name)
        ?.push(await load(server, target, { connections, seconds: seconds / ROUNDS }));
    }
  }
  return rounds;
}

/** The median of each figure over the rounds; `calls` are all of them. */
export function medianOf(rounds: readonly Load[]): Load {
  return {
    calls: rounds.reduce((sum, { calls }) => sum + calls, 0),
    requestsPerSecond: median(rounds.map((round) => round.requestsPerSecond)),
    p50: median(rounds.map((round) => round.p50)),
    p95: median(rounds.map((round) => round.p95)),
    p99: median(rounds.map((round) => round.p99)),
    cpuMicros: median(rounds.map((round) => round.cpuMicros)),
  };
}
