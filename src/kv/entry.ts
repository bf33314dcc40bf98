import { z } from "zod";
import { isTooDeep, MAX_NESTING } from "../nesting.ts";

const MAX_KEY_CHARACTERS = 256;
export const MAX_VALUE_BYTES = 64 * 1024;
export const MAX_KEYS = 1000;
export const MAX_TOTAL_BYTES = 1024 * 1024;
export const MAX_BATCH = 500;

/** A key of a person's map: 1 to 256 characters of any script (code points, so an emoji counts once). */
export const EntryKey = z
  .string()
  .min(1)
  .refine((key) => [...key].length <= MAX_KEY_CHARACTERS, {
    message: `a key has at most ${MAX_KEY_CHARACTERS} characters`,
  })
  .meta({ maxLength: MAX_KEY_CHARACTERS });

/** Any JSON value. Never parsed, copied or reshaped on its way in: "10.5" stays a string. */
export const EntryValue = z.unknown().refine((value) => !isTooDeep(value), {
  message: `nests arrays and objects deeper than ${MAX_NESTING}`,
});

export interface Entry {
  readonly key: string;
  readonly value: unknown;
}

export interface WrittenEntry {
  readonly key: string;
  readonly created: boolean;
  readonly updatedAt: Date;
}
