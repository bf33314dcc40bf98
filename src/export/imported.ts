import { z } from "zod";

const MAX_LINES = 1000;
/** The longest line: a message with its payload fits many times. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** A batch of lines of an export, as texts: what is in them must not be read by a parser that changes it. */
export const ExportImport = z.strictObject({
  /** Say what would happen and write nothing. */
  dryRun: z.boolean().default(false),
  /** The last batch: facts are folded and indexed from now on. */
  end: z.boolean().default(false),
  lines: z
    .array(
      z.strictObject({
        /** Where it stands in the file, for what is said of it. */
        number: z.int().positive(),
        text: z.string(),
      }),
    )
    .max(MAX_LINES),
});
export type ExportImport = z.output<typeof ExportImport>;

/**
 * What became of a line: `new` restored; `present` there already; `differs` there, but changed since, and left as it is;
 * `listed` nothing that is restored; `refused` for a reason, and nothing of it stored.
 */
type LineOutcome = "new" | "present" | "differs" | "listed" | "refused";

export interface ImportedLine {
  readonly number: number;
  /** `header`, `totals`, or the section of the row; absent where the line could not be read. */
  readonly section?: string;
  readonly outcome: LineOutcome;
  /** Of `refused` why, of `differs` in which fields. */
  readonly reason?: string;
}
