import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyReply } from "fastify";
import type { Answer } from "./exchange.ts";
import { HTTP_FAULT, rpcError } from "./rpc.ts";

/** Of the 10 s that a stop may take, what a running call may use before it is aborted. */
const DRAIN_MS = 5_000;
const STOPPING = JSON.stringify(
  rpcError(HTTP_FAULT, "The server is stopping; send the request again."),
);

/** The exchanges that have not ended: aborted when their client leaves, ended in time when the server stops. */
export class Running {
  readonly #calls = new Set<AbortController>();
  readonly #streams = new Set<AbortController>();
  #deadline: NodeJS.Timeout | undefined;

  /** Runs one exchange and sends its answer. */
  async run(
    reply: FastifyReply,
    exchange: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<FastifyReply> {
    const controller = new AbortController();
    if (reply.raw.destroyed) return reply.hijack();
    this.#calls.add(controller);
    reply.raw.once("close", () => {
      this.#calls.delete(controller);
      this.#streams.delete(controller);
      if (!reply.raw.writableFinished) controller.abort();
    });
    let answer: Answer;
    try {
      answer = await exchange(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) throw error;
      answer = { status: 503, body: STOPPING };
    }
    // A client that left is nobody's fault, and nobody reads an answer.
    return reply.raw.destroyed ? reply.hijack() : this.#send(reply, answer, controller);
  }

  #send(reply: FastifyReply, { status, body }: Answer, controller: AbortController): FastifyReply {
    reply.code(status);
    if (body === undefined) return reply.send();
    if (typeof body === "string") return reply.type("application/json").send(body);
    this.#streams.add(controller);
    if (this.#deadline !== undefined) controller.abort();
    return reply
      .type("text/event-stream")
      .headers({ "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" })
      .send(Readable.fromWeb(body as ReadableStream));
  }

  /** Ends the streams now and the calls at the deadline. */
  drain(): void {
    this.#deadline = setTimeout(() => abortAll(this.#calls), DRAIN_MS).unref();
    abortAll(this.#streams);
  }

  stop(): void {
    clearTimeout(this.#deadline);
  }
}

function abortAll(controllers: ReadonlySet<AbortController>): void {
  for (const controller of controllers) controller.abort();
}
