import { AppError } from "../errors.ts";
import { type FactDraft, MAX_KEY_LENGTH, MAX_TAGS, TIERS, type Tier } from "./fact.ts";

const WATCH_TAG = "veille";
const WATCH_PREFIX = "watch.";
const WATCH_KEY = /^watch\.[a-z0-9_]+\.[a-z0-9_]+(\.[a-z0-9_]+)*$/;

/** A draft with everything that the rules supply. */
export interface CompleteDraft {
  readonly key: string;
  readonly value: unknown;
  readonly confidence: number;
  readonly tags: readonly string[];
  readonly tier: Tier;
  readonly halfLifeDays: number;
  readonly ttlDays: number | null;
  readonly reasoning: string | null;
}

/** Learned about somebody else's site: never a fact about us. */
export function isWatchKey(key: string): boolean {
  return key.startsWith(WATCH_PREFIX);
}

/**
 * Applies the rules of tiers and of watch facts: key `watch.<site>.<topic>`, tag `veille` and tier `watch` go together,
 * so a draft with the key or the tag gets the rest.
 *
 * @throws AppError INVALID_INPUT that names the rule, where the draft cannot be completed
 */
export function completeDraft(draft: FactDraft): CompleteDraft {
  const given = [
    ...new Set(draft.tags?.map((tag) => (tag.toLowerCase() === WATCH_TAG ? WATCH_TAG : tag))),
  ];
  const watch = isWatchKey(draft.key) || given.includes(WATCH_TAG);
  const key = watch ? watchKey(draft.key) : draft.key;
  const tags = watch && !given.includes(WATCH_TAG) ? [...given, WATCH_TAG] : given;
  if (tags.length > MAX_TAGS) {
    throw new AppError(
      "INVALID_INPUT",
      `tags: a watch fact takes "${WATCH_TAG}" as one of its ${MAX_TAGS}`,
    );
  }
  if (draft.tier === "watch" && !watch) {
    throw new AppError("INVALID_INPUT", "tier: only watch facts have the tier watch", {
      hint: "Leave tier out, or use a key watch.<site>.<topic> for what was learned about another site.",
    });
  }
  const tier = watch ? "watch" : (draft.tier ?? "preference");
  return {
    key,
    value: draft.value,
    confidence: draft.confidence,
    tags,
    tier,
    halfLifeDays: draft.halfLifeDays ?? TIERS[tier].halfLifeDays,
    ttlDays: draft.ttlDays ?? TIERS[tier].ttlDays,
    reasoning: draft.reasoning ?? null,
  };
}

function watchKey(key: string): string {
  const full = isWatchKey(key) ? key : WATCH_PREFIX + key;
  if (WATCH_KEY.test(full) && full.length <= MAX_KEY_LENGTH) return full;
  throw new AppError(
    "INVALID_INPUT",
    `key: a watch fact (tag "${WATCH_TAG}") has a key watch.<site>.<topic> of at most ${MAX_KEY_LENGTH} characters`,
    {
      hint: "Send e.g. watch.acme.pricing, or leave the tag out for a fact about us or our people.",
    },
  );
}
