/** What the bridge must know about a statement's text before the engine sees it. */

/** Comments, string literals and dollar quotes: their words are not SQL. */
const NOT_CODE = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$/g;

/**
 * Whether the text holds a COPY ... FROM STDIN, which PGlite cannot serve: it waits for data that a
 * synchronous engine never gets and its process exits. A text this misses still only costs a restart
 * of the worker.
 */
export function copiesFromStdin(sql: string): boolean {
  if (!/\bstdin\b/i.test(sql)) return false;
  return /(?:^|;)\s*copy\b[^;]*\bfrom\s+stdin\b/i.test(sql.replace(NOT_CODE, " "));
}

/** Raises the error a client sees in place of COPY ... FROM STDIN, in its place in the pipeline. */
export const COPY_REFUSAL =
  "DO $$ BEGIN RAISE EXCEPTION 'COPY FROM STDIN is not available in the embedded database: insert rows in batches' USING ERRCODE = '0A000'; END $$";

/** Whether the statement leaves the session outside a transaction, whatever its outcome. */
export function endsTransaction(sql: string): boolean {
  return (
    /^\s*(?:commit|end|abort|rollback|prepare\s+transaction)\b/i.test(sql) &&
    !/^\s*rollback\s+(?:(?:work|transaction)\s+)?to\b/i.test(sql)
  );
}
