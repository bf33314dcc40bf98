const WORD = /^[\w.-]{1,60}$/;

/** An error's name and code for the run log. Never its message: those quote values, people's texts, URLs with tokens. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { name, code, cause }: Error & { code?: unknown } = error;
  if (name === "RetryLater" && cause !== undefined) return reasonOf(cause);
  const words = [name, code].filter((word) => typeof word === "string" && WORD.test(word));
  return words.join(" ") || "Error";
}
