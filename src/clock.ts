/** The only source of "now" in domain code, so that tests can move it. */
export type Clock = () => Date;

/**
 * The second that a moment lies in. Platforms date messages by it, so what the server dates itself must too: else an
 * answer of 10:00:00.95 would stand behind what was written after it, in the same second.
 */
export function wholeSecond(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / 1000) * 1000);
}
