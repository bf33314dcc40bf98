import { html } from "htm/preact";
import type { RunInfo } from "../../jobs/service.ts";
import { Text } from "../text.ts";

/** What each kind of job does, for whoever does not know its name. */
const PURPOSES: Readonly<Record<string, string>> = {
  "facts.consolidate": "Merges what was said twice, settles contradictions, lets old facts fade",
  "facts.expire": "Deletes facts whose time is over",
  "facts.compare": "Compares new values by what they mean",
  "turns.extract": "Learns facts from a turn of a chat",
  "channels.forward": "Hands messages on to the agents’ runtime",
  "channels.deliveries": "Clears away old letters that were given up",
  "chat.retention": "Deletes chats that are older than they may be kept",
  "chat.unfinished": "Finishes messages whose sending was interrupted",
  "search.index": "Makes messages findable by their words",
  "search.embed": "Makes facts and messages findable by what they mean",
  "vectors.index": "Keeps the search by meaning fast",
  "vectors.delete": "Deletes vectors of what is gone",
  "erasures.run": "Erases what was asked for, and looks whether anything is left",
  "erasures.scrub": "Takes the bytes of what was erased out of the database’s files",
  "overview.count": "Counts what is remembered, for the overview",
  "jobs.prune": "Clears away old jobs and runs",
  "links.codes": "Clears away link codes that ran out",
  "sessions.end": "Signs out who signed in long ago",
  "idempotency.forget": "Forgets answers that are kept for repeated calls",
  "database.maintenance": "Keeps the embedded database small and fast",
};

/** When a job runs, for whoever does not read cron patterns. Times are UTC. */
export function whenOf(cron: string | null): string {
  if (cron === null) return "when something asks for it";
  const [, every] = /^\*\/(\d+) \* \* \* \*$/.exec(cron) ?? [];
  if (every !== undefined) return `every ${every} minutes`;
  if (cron === "* * * * *") return "every minute";
  if (/^\d+ \* \* \* \*$/.test(cron)) return "every hour";
  const [, minute = "", hour] = /^(\d+) (\d+) \* \* \*$/.exec(cron) ?? [];
  return hour === undefined
    ? cron
    : `every day at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")} UTC`;
}

export function purposeOf(kind: string): string | undefined {
  return Object.hasOwn(PURPOSES, kind) ? PURPOSES[kind] : undefined;
}

const OUTCOMES: Readonly<Record<RunInfo["outcome"], readonly [tone: string, word: string]>> = {
  running: ["warn", "running"],
  done: ["good", "done"],
  failed: ["bad", "failed"],
  lost: ["bad", "lost"],
};

export function OutcomeBadge({ outcome }: Pick<RunInfo, "outcome">) {
  const [tone, word] = OUTCOMES[outcome];
  return html`<span class=${`badge ${tone}`}>${word}</span>`;
}

/** What a run did: its counts that are not nothing, or what it met. */
export function Result({ run: { counts, error } }: { readonly run: RunInfo }) {
  if (error !== null) return html`<code><${Text} text=${error} limit=${200} /></code>`;
  const told = Object.entries(counts ?? {}).filter(([, count]) => count !== 0);
  return (
    told.map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(", ") ||
    "nothing to do"
  );
}

/** How long something took, in a unit that can be read. */
export function lasted(from: string, to: string | null): string {
  if (to === null) return "";
  const ms = Math.max(0, new Date(to).getTime() - new Date(from).getTime());
  if (ms < 1000) return `${ms} ms`;
  return ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
