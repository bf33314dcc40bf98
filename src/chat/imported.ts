import { z } from "zod";
import { AccountName, ChannelName } from "../channels/account.ts";
import { Instant } from "../instant.ts";
import { isTooDeep } from "../nesting.ts";
import { ExternalId } from "../users/person.ts";
import { Direction, MessageKind } from "./message.ts";

/** Messages of one request: its transaction takes some 100 ms, so that whoever archives meanwhile waits no longer. */
const MAX_IMPORTED = 500;
/** Of one message, as JSON. Telegram's own longest is a small part of it. */
export const MAX_IMPORTED_BYTES = 262_144;

/** What becomes part of a unique index, whose rows must stay small. */
const PlatformId = z.string().min(1).max(200);
const Name = z.string().max(256);

/** A message from an exported archive, already in the archive's own terms. */
const ImportedMessage = z.strictObject({
  direction: Direction,
  kind: MessageKind,
  text: z.string().max(MAX_IMPORTED_BYTES).nullable(),
  sentAt: Instant,
  editedAt: Instant.optional(),
  conversationId: PlatformId,
  platformMessageId: PlatformId,
  /** Absent: of nobody in particular. */
  sender: z
    .strictObject({
      externalId: ExternalId,
      username: Name.optional(),
      firstName: Name.optional(),
    })
    .optional(),
  forwarded: z.boolean(),
  /** It answers a message that opted out, and may repeat it. */
  optedOut: z.boolean().optional(),
  payload: z
    .record(z.string(), z.unknown())
    .refine((payload) => !isTooDeep(payload), "nests too deep"),
});
export type ImportedMessage = z.output<typeof ImportedMessage>;
/** The same on its way to the server, with dates as text. */
export type ExportedMessage = z.input<typeof ImportedMessage>;

export const MessageImport = z.strictObject({
  channel: ChannelName,
  account: AccountName,
  /** Say what would happen and write nothing. */
  dryRun: z.boolean().default(false),
  /** Replace what was edited since it was archived. */
  update: z.boolean().default(false),
  /** People who are not known yet are approved at once. */
  approve: z.boolean().default(false),
  messages: z.array(ImportedMessage).min(1).max(MAX_IMPORTED),
});
export type MessageImport = z.output<typeof MessageImport>;

/**
 * What became of a message, or would have: `new` archived; `present` there already; `changed` edited since it was
 * archived, and left as it was; `updated` replaced, the earlier text kept as a revision; `differs` other words without a
 * later date of edit, so the archive's stay.
 */
export type ImportOutcome = "new" | "present" | "changed" | "updated" | "differs";

export interface MessagesImported {
  /** One for each message, in their order. */
  readonly outcomes: readonly ImportOutcome[];
  /** External ids of people who were not known before. */
  readonly newPeople: readonly string[];
}

/** What the archive holds under a platform's id. */
export interface ArchivedVersion {
  readonly kind: string;
  readonly text: string | null;
  readonly editedAt: Date | null;
}

/**
 * Whether the archive has this version. Words and kind decide: the same message looks different in a delivery and in an
 * export, and an older export must not undo a newer edit.
 */
export function compareVersions(
  archived: ArchivedVersion,
  message: Pick<ImportedMessage, "kind" | "text" | "editedAt">,
): "present" | "changed" | "differs" {
  if (archived.text === message.text && archived.kind === message.kind) return "present";
  const { editedAt } = message;
  if (!editedAt) return "differs";
  return archived.editedAt === null || editedAt > archived.editedAt ? "changed" : "differs";
}
