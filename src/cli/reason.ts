/** An error as one text for a person at a terminal: the message, and the hint where there is one. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
  return withHint(error.message, hint);
}

/** The hint is a sentence of its own; messages mostly end without a stop. */
export function withHint(message: string, hint: string | undefined): string {
  if (!hint) return message;
  return `${message}${/[.!?]$/.test(message) ? "" : "."} ${hint}`;
}
