import { z } from "zod";
import { isTooDeep, MAX_NESTING } from "../nesting.ts";

export const FACT_SCOPES = ["org", "store", "user"] as const;
export const FactScopeName = z.enum(FACT_SCOPES);
export type FactScopeName = z.infer<typeof FactScopeName>;

/** How long a kind of claim keeps its weight (half-life) and when it goes for good (TTL; null = never), in days. */
export const TIERS = {
  core: { halfLifeDays: 1095, ttlDays: null },
  preference: { halfLifeDays: 365, ttlDays: null },
  seasonal: { halfLifeDays: 90, ttlDays: 365 },
  watch: { halfLifeDays: 60, ttlDays: 180 },
  episodic: { halfLifeDays: 14, ttlDays: 90 },
  ephemeral: { halfLifeDays: 2, ttlDays: 14 },
} as const satisfies Record<string, { halfLifeDays: number; ttlDays: number | null }>;
export type Tier = keyof typeof TIERS;
export const TierName = z.enum(Object.keys(TIERS) as [Tier, ...Tier[]]);

export const MAX_KEY_LENGTH = 80;
export const MAX_TAGS = 8;
const MAX_VALUE_BYTES = 4096;
export const MIN_CONFIDENCE = 0.4;
const MAX_TAG_LENGTH = 40;
const MAX_REASONING_LENGTH = 240;
const MAX_SOURCE_LENGTH = 256;
/** A century: beyond it dates leave the range that the database and JavaScript share. */
const MAX_DAYS = 36_500;

const KEY = /^[a-z0-9_]+(\.[a-z0-9_]+)*$/;

export const FactKey = z
  .string()
  .max(MAX_KEY_LENGTH)
  .regex(KEY, "a key is a-z, 0-9 and _ in parts joined by single dots, e.g. food.allergies");

export const Tags = z.array(z.string().trim().min(1).max(MAX_TAG_LENGTH)).max(MAX_TAGS);

/** Bytes of a value as JSON text in UTF-8. */
function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Any JSON value. Never copied or reshaped on its way in. */
const FactValue = z.unknown().superRefine((value, context) => {
  if (value === undefined) {
    context.addIssue({ code: "custom", message: "missing; send any JSON value" });
  } else if (isTooDeep(value)) {
    context.addIssue({
      code: "custom",
      message: `nests arrays and objects deeper than ${MAX_NESTING}`,
    });
  } else if (bytesOf(value) > MAX_VALUE_BYTES) {
    context.addIssue({
      code: "custom",
      message: `${bytesOf(value)} bytes as JSON; a fact takes ${MAX_VALUE_BYTES}. Split it into one fact per claim`,
    });
  }
});

/** Marks sources that the server makes, for calls that name none and for people's edits; callers may not use them. */
export const CALL_SOURCE = "call:";
export const EDIT_SOURCE = "edit:";

export const SourceMessageId = z
  .string()
  .min(1)
  .max(MAX_SOURCE_LENGTH)
  .refine(
    (id) => ![CALL_SOURCE, EDIT_SOURCE].some((own) => id.startsWith(own)),
    `must not start with "${CALL_SOURCE}" or "${EDIT_SOURCE}"`,
  );

export const FactId = z.string().min(1).max(64);

/** Why a fact is forgotten. Outlives the fact. */
export const ForgetReason = z.string().trim().min(1).max(MAX_REASONING_LENGTH);

const Days = z.number().positive().max(MAX_DAYS);

/** What a claim is made of, whoever makes it: a tool call or an extraction. */
export const FactDraft = z.strictObject({
  key: FactKey,
  value: FactValue,
  confidence: z.number().min(0).max(1),
  tags: Tags.optional(),
  tier: TierName.optional(),
  halfLifeDays: Days.optional(),
  ttlDays: Days.optional(),
  reasoning: z.string().max(MAX_REASONING_LENGTH).optional(),
});
export type FactDraft = z.infer<typeof FactDraft>;

/** What a person sends to replace a claim's value. */
export const FactEdit = z.strictObject({ value: FactValue, reason: ForgetReason.optional() });
