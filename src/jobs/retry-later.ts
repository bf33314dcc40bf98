interface RetryLaterOptions extends ErrorOptions {
  readonly at: Date;
  /** false = nothing went wrong, e.g. the turn is not closed yet: neither an attempt nor a run is recorded. */
  readonly countsAsAttempt: boolean;
}

/** Thrown by a handler that knows when trying again makes sense, e.g. from a provider's Retry-After. */
export class RetryLater extends Error {
  override readonly name = "RetryLater";
  readonly at: Date;
  readonly countsAsAttempt: boolean;

  /** @throws RangeError for an invalid date, which then counts as any other failure */
  constructor({ at, countsAsAttempt, cause }: RetryLaterOptions) {
    super("try again later", cause === undefined ? undefined : { cause });
    if (Number.isNaN(at.getTime())) throw new RangeError("RetryLater needs a valid date");
    this.at = at;
    this.countsAsAttempt = countsAsAttempt;
  }
}
