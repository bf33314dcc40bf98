/** Said of `userId` in every tool that has it; the instructions say the rest. */
export const USER_ID = "e.g. telegram:12345";

/** Annotations of tools that change nothing: the other hints say how something changes. */
export const READS = { readOnlyHint: true, openWorldHint: false } as const;
