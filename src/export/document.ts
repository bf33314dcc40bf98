import { z } from "zod";
import { At, Count, Id, Text } from "./fields.ts";
import {
  type AnySection,
  LISTED,
  LISTED_NAMES,
  SECTION_NAMES,
  SECTIONS,
  type SectionName,
} from "./rows.ts";

export const FORMAT = "souvenir-export";
export const FORMAT_VERSION = 1;

const EXPORT_SCOPES = ["org", "store", "user"] as const;

const countsOf = (names: readonly AnySection[]) => z.partialRecord(z.enum(names), Count);

/** What a file begins with. */
export const Header = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  scope: z.enum(EXPORT_SCOPES),
  /** Of the org, the store or the person. */
  id: Id,
  org: z.strictObject({ id: Id, slug: Text, name: Text, createdAt: At }),
  exportedAt: At,
  /** How many rows each section had when the export began. */
  counts: countsOf([...LISTED_NAMES, ...SECTION_NAMES]),
});
export type Header = z.output<typeof Header>;

/** How many rows each section has in the file: it ends with them, so that a file that was cut is told from a whole one. */
export const Totals = countsOf(SECTION_NAMES);
export type Totals = Partial<Record<SectionName, number>>;

export type ExportFormat = "json" | "ndjson";

type Rows = Readonly<Record<string, z.ZodObject>>;

/** What the schema names once and refers to. */
function namedParts() {
  const parts = z.registry<{ id: string }>();
  parts.add(Id, { id: "id" }).add(At, { id: "time" }).add(Header, { id: "header" });
  parts.add(Totals, { id: "totals" });
  for (const [name, row] of Object.entries({ ...SECTIONS, ...LISTED }))
    if (!parts.has(row)) parts.add(row, { id: `${name}.row` });
  return parts;
}

/** The JSON Schema of both forms: the document itself, and each line of a stream under `$defs`. */
export function exportSchema(): object {
  const lists = (rows: Rows) =>
    z.strictObject(
      Object.fromEntries(
        Object.entries(rows).map(([name, row]) => [name, z.array(row).optional()]),
      ),
    );
  const lines = (group: "listed" | "section", rows: Rows) =>
    Object.entries(rows).map(([name, row]) => z.strictObject({ [group]: z.literal(name), row }));
  const document = z.strictObject({
    ...Header.shape,
    listed: lists(LISTED),
    sections: lists(SECTIONS),
    totals: Totals,
  });
  const line = z.union([
    Header,
    ...lines("listed", LISTED),
    ...lines("section", SECTIONS),
    z.strictObject({ totals: Totals }),
  ]);
  const { $schema, $defs, properties } = z.toJSONSchema(z.object({ document, line }), {
    metadata: namedParts(),
  });
  return {
    $schema,
    title: "Souvenir export",
    description:
      "Everything that Souvenir keeps of a person, a store or an org. The schema is that of the JSON document; each line of the NDJSON form matches $defs/line.",
    ...(properties?.document as object),
    $defs: { line: properties?.line, ...$defs },
  };
}
