import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../canonical-json.ts";
import type { Clock } from "../clock.ts";
import type { Tx } from "../db/tenant.ts";
import { AppError } from "../errors.ts";
import type { IdempotencyRepository } from "./repository.ts";

/** The `idempotencyKey` parameter of tools and routes. */
export const IdempotencyKey = z.string().min(1).max(256);

/** Who calls: keys are unique for one org and credential, so nobody can probe another caller's calls. */
interface Caller {
  readonly orgId: string;
  readonly keyId: string;
}

interface Call {
  readonly tool: string;
  readonly key: string | undefined;
  /** Everything that decides the answer, as JSON. */
  readonly body: unknown;
}

function sha256(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

export class IdempotencyService {
  readonly #calls: IdempotencyRepository;
  readonly #clock: Clock;

  constructor(calls: IdempotencyRepository, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  /**
   * Runs `work` once for a caller, tool and idempotency key, in the caller's transaction: a retry gets the first
   * answer. Without a key it just runs.
   *
   * @throws AppError CONFLICT when the key was used with another body
   */
  async once<T>(caller: Caller, call: Call, tx: Tx, work: () => Promise<T>): Promise<T> {
    if (call.key === undefined) return work();
    const callHash = hashOf(caller, call.tool, call.key);
    const bodyHash = sha256(canonicalJson(call.body));
    const claim = { callHash, bodyHash, createdAt: this.#clock() };
    if (await this.#calls.claim(caller, claim, tx)) {
      const answer = await work();
      await this.#calls.answer(caller, callHash, JSON.stringify(answer), tx);
      return answer;
    }
    const earlier = await this.#calls.find(caller, callHash, tx);
    if (earlier?.bodyHash !== bodyHash || earlier.answer === null) {
      throw new AppError("CONFLICT", "this idempotencyKey was used for a different call", {
        hint: "Use a new idempotencyKey for a new call; repeat the same arguments to get the first answer again.",
      });
    }
    return JSON.parse(earlier.answer) as T;
  }

  /** Forgets a call that came to nothing, so that it may be made again. */
  async release(caller: Caller, call: Call, tx: Tx): Promise<void> {
    if (call.key === undefined) return;
    await this.#calls.delete(caller, hashOf(caller, call.tool, call.key), tx);
  }
}

function hashOf({ orgId, keyId }: Caller, tool: string, key: string): string {
  return sha256(orgId, keyId, tool, key);
}
