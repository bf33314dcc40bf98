import { expect, test } from "vitest";
import { copiesFromStdin, endsTransaction } from "../../../src/db/embedded/statements.ts";

test.each([
  "copy t from stdin",
  "COPY t (a, b)\n FROM\tSTDIN WITH (format csv)",
  "  -- a comment\n copy t from stdin",
  "/* why */ copy t /* where */ from /* what */ stdin",
  "select 1; copy t from stdin;",
  "insert into t values ('it''s'); copy t from stdin",
])("%j waits for data that never comes", (sql) => {
  expect(copiesFromStdin(sql)).toBe(true);
});

test.each([
  "copy t to stdout",
  "copy t from '/dev/blob'",
  "select 'copy t from stdin'",
  "insert into t values ('; copy t from stdin')",
  "do $x$ begin perform 'copy t from stdin'; end $x$",
  "-- copy t from stdin\nselect 1",
  "select stdin from copy",
])("%j may run", (sql) => {
  expect(copiesFromStdin(sql)).toBe(false);
});

test.each([
  "commit",
  " COMMIT;",
  "rollback",
  "Rollback Work",
  "end",
  "abort",
  "prepare transaction 'x'",
])("%j ends a transaction", (sql) => {
  expect(endsTransaction(sql)).toBe(true);
});

test.each([
  "rollback to s1",
  "ROLLBACK TO SAVEPOINT s1",
  "rollback work to s1",
  "select 1",
  "prepare p as select 1",
  "endless",
])("%j leaves it open", (sql) => {
  expect(endsTransaction(sql)).toBe(false);
});
