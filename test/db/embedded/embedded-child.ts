/**
 * A process that owns a data directory until it is killed: `node embedded-child.ts <dir> [write|initdb]`;
 * with `initdb` only its cluster is made, without the template.
 * Says `open`, then with `write` one line for each acknowledged transaction; says why it was refused.
 */
import postgres from "postgres";
import { prepareCluster } from "../../../src/db/embedded/data-directory.ts";
import { openEmbedded } from "../../../src/db/embedded/embedded.ts";

const [, , directory = "", mode] = process.argv;
const say = (line: string) => process.stdout.write(`${line}\n`);

try {
  if (mode === "initdb") await prepareCluster(directory, { template: undefined });
  const database = await openEmbedded(directory);
  const sql = postgres({ ...database.driverOptions, onnotice: () => {} });
  if (mode === "write") {
    await sql`create table if not exists pairs (id int, half int, body text, primary key (id, half))`;
    const [last] = await sql`select coalesce(max(id), 0)::int as id from pairs`;
    say("open");
    for (let id = Number(last?.id) + 1; ; id += 1) {
      await sql.begin(async (tx) => {
        await tx`insert into pairs values (${id}, 1, ${"x".repeat(id % 3_000)})`;
        await tx`insert into pairs values (${id}, 2, '')`;
      });
      say(String(id));
      if (id % 100 === 0) await sql`checkpoint`;
    }
  }
  say("open");
  setInterval(() => {}, 60_000);
} catch (error) {
  say(`refused: ${(error as Error).message}`);
}
