import { z } from "zod";
import { AppError, ERROR_CODES } from "../errors.ts";

/** Why something was not sent, as the archive keeps it: nothing of what was to be sent. */
const Failure = z.object({ code: z.enum(ERROR_CODES), message: z.string() });
export type Failure = z.output<typeof Failure>;

/** Of a process that ended while it was sending. */
export const UNFINISHED: Failure = {
  code: "UNAVAILABLE",
  message: "the server stopped while it sent this: it is unknown whether it arrived",
};

/** The message's payload (JSON text) with the failure in it. */
export function withFailure(payload: string, { code, message }: Failure): string {
  return JSON.stringify({ ...JSON.parse(payload), failure: { code, message } });
}

/** What an archived message was sent like. */
interface Progress {
  readonly id: string;
  readonly platformMessageId: string | null;
  readonly status: string | null;
  readonly payload: string;
}

/**
 * The parts of one call that were sent.
 *
 * @throws AppError when one failed, as it failed; CONFLICT while it is being sent
 */
export function answerOf(parts: readonly Progress[]): { id: string; platformMessageId: string }[] {
  const failed = parts.find(({ status }) => status === "failed");
  const sent = parts.flatMap(({ id, platformMessageId }) =>
    platformMessageId === null ? [] : [{ id, platformMessageId }],
  );
  if (failed) {
    const { failure } = z.object({ failure: Failure }).parse(JSON.parse(failed.payload));
    throw new AppError(failure.code, failure.message, {
      ...(sent.length > 0 && {
        hint: `The first ${sent.length} of ${parts.length} messages were sent: send only the rest.`,
      }),
    });
  }
  if (parts.some(({ status }) => status === "sending")) {
    throw new AppError("CONFLICT", "this is being sent by an earlier call", {
      hint: "Repeat the call in a minute to learn how it ended; do not send the text again.",
    });
  }
  return sent;
}
