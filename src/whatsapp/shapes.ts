import { z } from "zod";
import { isRecord } from "../chat/payload.ts";

/** An object of these fields. One that is null says no more than one that is missing. */
function object<S extends z.core.$ZodShape>(shape: S) {
  return z.preprocess(withoutNulls, z.object(shape));
}

function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

/** Opaque ids go into unique indexes, whose rows must stay small; the platform's are under 100 characters. */
const Token = z.string().min(1).max(256);

/** The id of the business's phone number: part of every id here, because message ids are promised for one number. */
const PhoneNumberId = z.string().regex(/^\d{1,32}$/);

/** A person's phone number as WhatsApp writes it, with or without a plus. */
const PhoneNumber = z
  .string()
  .regex(/^\+?\d{5,20}$/)
  .transform((number) => number.replace("+", ""));

/** A person's id within a business portfolio, e.g. `BR.1502576394655843`. Never digits alone: that is a number. */
const UserId = z.string().regex(/^(?=.*[A-Za-z])[A-Za-z0-9._-]{1,200}$/);

const name = z
  .string()
  .min(1)
  .transform((value) => value.slice(0, 256).toWellFormed())
  .optional()
  .catch(undefined);

/** Unix seconds, a string of digits as the platform sends them; between 2009, when it began, and the year 2100. */
const seconds = z
  .union([z.string().regex(/^\d{1,12}$/), z.int()])
  .transform(Number)
  .pipe(z.int().min(1_230_768_000).max(4_102_444_800))
  .transform((value) => new Date(value * 1000))
  .optional()
  .catch(undefined);

/** The little of a change's value that says which number it is about. */
export const ValueShape = object({ metadata: object({ phone_number_id: PhoneNumberId }) });

export const ContactShape = object({
  wa_id: PhoneNumber.optional().catch(undefined),
  user_id: UserId.optional().catch(undefined),
  profile: object({ name, username: name }).optional().catch(undefined),
});
export type ContactShape = z.infer<typeof ContactShape>;

/**
 * What the archive reads from a message; the rest stays in the payload. A wrong type in a field that says whose or which
 * message this is fails the parse: a guess would file it under the wrong person.
 */
export const MessageShape = object({
  id: Token,
  type: z.string().max(64).catch("unsupported"),
  timestamp: seconds,
  from: PhoneNumber.optional(),
  from_user_id: UserId.optional(),
  /** Set on what the business said on its own phone. */
  to: PhoneNumber.optional(),
  to_user_id: UserId.optional(),
  group_id: Token.optional(),
});
export type MessageShape = z.infer<typeof MessageShape>;

/** A message that changes an earlier one: `edit` with its new content, `revoke` without. */
export const EditShape = object({
  original_message_id: Token,
  message: object({ type: z.string().max(64) }).and(z.record(z.string(), z.unknown())),
});
export const RevokeShape = object({ original_message_id: Token });

/** `user_changed_number` has the new number, `user_changed_user_id` the new id; older versions name them otherwise. */
export const SystemShape = object({
  type: z.string(),
  previous_user_id: UserId.optional().catch(undefined),
  user_id: UserId.optional().catch(undefined),
  wa_id: PhoneNumber.optional().catch(undefined),
  new_wa_id: PhoneNumber.optional().catch(undefined),
});

/** An entry of `user_id_update`, which says the same outside of a conversation. */
export const UserIdUpdateShape = object({
  wa_id: PhoneNumber.optional().catch(undefined),
  user_id: object({ previous: UserId, current: UserId }),
  timestamp: seconds,
});

export const StatusShape = object({ id: Token, status: z.string().max(64) });
