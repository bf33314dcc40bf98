import { UsageError } from "./usage-error.ts";

export const EXPORT_USAGE = `  export user USERID | store STORE | org [--ndjson] [--gzip] [--out FILE]
                                               everything that is kept of a person, a store or the org
`;

export const EXPORT_OPTIONS = {
  ndjson: { type: "boolean" },
  gzip: { type: "boolean" },
  out: { type: "string" },
} as const;

interface Flags {
  readonly ndjson?: boolean;
  readonly gzip?: boolean;
  readonly out?: string;
}

/** What the command line asks to be exported. */
export interface ExportRequest {
  /** As the server's route takes it. */
  readonly path: string;
  readonly gzip: boolean;
  /** Undefined: standard output. */
  readonly file: string | undefined;
}

export interface ExportVerb {
  readonly words: readonly string[];
  readonly flags: readonly (keyof Flags)[];
  readonly required?: undefined;
  readonly instead?: undefined;
  readonly exported: (words: readonly string[], flags: Flags) => ExportRequest;
}

const verb = (
  words: readonly string[],
  queryOf: (word: string) => Readonly<Record<string, string>>,
): ExportVerb => ({
  words,
  flags: ["ndjson", "gzip", "out"],
  exported([word = ""], { ndjson = false, gzip = false, out: file }) {
    if (file === "") throw new UsageError("export: --out is the name of a file");
    const query = { ...queryOf(word), format: ndjson ? "ndjson" : "json" };
    return { path: `/v1/export?${new URLSearchParams(query)}`, gzip, file };
  },
});

export const EXPORT_VERBS: Readonly<Record<string, ExportVerb>> = {
  "export user": verb(["USERID"], (userId) => ({ userId })),
  "export store": verb(["STORE"], (storeId) => ({ storeId })),
  "export org": verb([], () => ({ org: "1" })),
};
