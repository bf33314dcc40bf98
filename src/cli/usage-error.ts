/** What was typed is no command; the message says why. */
export class UsageError extends Error {}
