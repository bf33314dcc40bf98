import { ERASE_USAGE } from "./erase-command.ts";
import { EXPORT_USAGE } from "./export-command.ts";
import { IMPORT_USAGE } from "./import-command.ts";

export const USAGE = `Usage: npm run souvenir -- <command>

  serve                                        run the server (what npm start does)
  keys create --name NAME [--role member|admin|owner] [--agent AGENT]
              [--pin-user USERID] [--pin-store STORE] [--pin-agent AGENT]
  keys list
  keys revoke ID
  orgs create SLUG [--name NAME]
  orgs list
  orgs memory [--enabled true|false] [--off-share 0..1] [--extraction-limit N|default]
                                               show or change how the org uses memory
  stores create SLUG [--name NAME]
  stores list
  channels add CHANNEL ACCOUNT --secret-variable VARIABLE [--token-variable VARIABLE] [--verify-variable VARIABLE]
              [--forward-url URL --forward-secret-variable VARIABLE] [--auto-approve] [--store STORE]
  channels list
  channels remove CHANNEL ACCOUNT
  people list [--status pending|approved|blocked] [--search TEXT] [--before NEXTBEFORE]
  people approve|block|pend USERID --reason TEXT
  links list [--user USERID] [--before NEXTBEFORE]
  links create USERID --with USERID --reason TEXT   one person from now on: the first
  links undo ID [--reason TEXT]
  deliveries list [--state dead|pending] [--before NEXTBEFORE]
                                               what could not be forwarded to the agent runtime, or waits
  deliveries replay ID|--all                   try a dead one or all of them again; one that waits is tried now
${EXPORT_USAGE}${IMPORT_USAGE}${ERASE_USAGE}  consolidate                                  consolidate the facts of every org now and print what was done

Every command but serve, orgs create, orgs list and consolidate takes --org SLUG (default: DEFAULT_ORG). A list that has
more ends with a "nextBefore". While a server runs on the embedded database, the command is sent to it. Without one, and
on PostgreSQL, it opens the database itself.
`;

/** The lines of the commands that begin with a word, or all of them where none does: the fault above stays in sight. */
export function usageOf(noun: string | undefined): string {
  const [title, ...commands] = USAGE.split(/\n(?= {2}\S)|\n\n(?=\S)/);
  const own = commands.filter((command) => command.startsWith(`  ${noun} `));
  return own.length === 0 ? USAGE : [title, ...own, "\nAll commands: --help\n"].join("\n");
}
