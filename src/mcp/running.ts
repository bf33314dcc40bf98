import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyReply } from "fastify";
import type { Answer } from "./exchange.ts";
import { RETRY_AFTER_SECONDS } from "./http.ts";
import { HTTP_FAULT, rpcError } from "./rpc.ts";

/** Of the 10 s that a stop may take, what a running call may use before it is aborted. */
const DRAIN_MS = 5_000;
const STOPPING = JSON.stringify(
  rpcError(HTTP_FAULT, "The server is stopping; send the request again.", null, {
    code: "UNAVAILABLE",
  }),
);

/** The exchanges that have not ended: aborted when their client leaves, or in time when the server stops. */
export class Running {
  readonly #calls = new Set<AbortController>();

  /** Runs one exchange and sends its answer. */
  async run(
    reply: FastifyReply,
    exchange: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<FastifyReply> {
    const controller = new AbortController();
    if (reply.raw.destroyed) controller.abort();
    this.#calls.add(controller);
    reply.raw.once("close", () => {
      this.#calls.delete(controller);
      if (!reply.raw.writableFinished) controller.abort();
    });
    let answer: Answer;
    try {
      answer = await exchange(controller.signal);
    } catch (error) {
      // That a client left is nobody's fault, and nobody will read this.
      if (!controller.signal.aborted) throw error;
      answer = { status: 503, body: STOPPING };
    }
    return send(reply, answer);
  }

  /** Aborts at the deadline what has not ended by then. */
  drain(): void {
    setTimeout(() => {
      for (const controller of this.#calls) controller.abort();
    }, DRAIN_MS).unref();
  }
}

function send(reply: FastifyReply, { status, body }: Answer): FastifyReply {
  reply.code(status);
  if (status === 503) reply.header("retry-after", RETRY_AFTER_SECONDS);
  if (body === undefined) return reply.send();
  if (typeof body === "string") return reply.type("application/json").send(body);
  return reply
    .type("text/event-stream")
    .headers({ "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" })
    .send(Readable.fromWeb(body as ReadableStream));
}
