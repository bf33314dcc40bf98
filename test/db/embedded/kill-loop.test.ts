import { expect, onTestFinished, test } from "vitest";
import { openEmbedded } from "../../../src/db/embedded/embedded.ts";
import { connect, startProcess, temporaryDirectory } from "./embedded-fixture.ts";

/** The soak (`npm run verify:soak`) kills for minutes; this holds the kind. */
const ROUNDS = 6;

test(`${ROUNDS} times kill -9 while writing loses no acknowledged transaction and tears none`, {
  timeout: 180_000,
}, async () => {
  const directory = temporaryDirectory();
  onTestFinished(directory.dispose);
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = startProcess(directory.path, "write");
    onTestFinished(child.kill);
    await child.answer().toBe("open");
    await expect
      .poll(() => child.lines.length, { interval: 5, timeout: 30_000 })
      .toBeGreaterThan(20 + 7 * round);
    await child.kill();
    const last = Number(child.lines.at(-1));
    expect(last).toBeGreaterThan(acknowledged);
    acknowledged = last;
  }

  const database = await openEmbedded(directory.path);
  const sql = connect(database);
  const rows = await sql`
    select id, count(*)::int as halves, max(length(body)) as size from pairs group by id order by id`;
  // Ids are consecutive: a new process goes on after the highest it finds. The last may be in doubt.
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
  expect([...rows]).toEqual(rows.map((_, i) => ({ id: i + 1, halves: 2, size: (i + 1) % 3_000 })));
  await sql.end();
  await database.close();
});
