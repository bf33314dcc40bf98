/** An error as one text for a person at a terminal: the message, and the hint where there is one. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : undefined;
  return [error.message, hint].filter(Boolean).join(" ");
}
