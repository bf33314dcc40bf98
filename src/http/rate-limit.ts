import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** A budget of messages a minute for each API key, in this process. */
export class RateLimit {
  readonly #limiter: RateLimiterMemory | undefined;

  /** @param perMinute messages for one key; 0 = no limit */
  constructor(perMinute: number) {
    this.#limiter =
      perMinute === 0 ? undefined : new RateLimiterMemory({ points: perMinute, duration: 60 });
  }

  /** Takes messages from a key's budget. @returns how long to wait where the budget is used up */
  async charge(
    keyId: string,
    messages: number,
  ): Promise<{ readonly retryAfterSeconds: number } | undefined> {
    try {
      await this.#limiter?.consume(keyId, messages);
      return undefined;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return { retryAfterSeconds: refusal.msBeforeNext / 1000 };
    }
  }
}
