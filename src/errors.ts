/** Every failure that a caller can act on carries one of these codes; anything else is a bug (`INTERNAL`). */
export const ERROR_CODES = [
  "INVALID_INPUT",
  "NOT_FOUND",
  "FORBIDDEN",
  "CONFLICT",
  "LIMIT_EXCEEDED",
  "RATE_LIMITED",
  "UNAVAILABLE",
  "INTERNAL",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

interface AppErrorOptions extends ErrorOptions {
  /** What to send or do instead, in one sentence. */
  hint?: string;
}

/** An error whose message may be shown to the caller: no SQL, no secret, no other person's data. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options?: AppErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = options?.hint;
  }
}
