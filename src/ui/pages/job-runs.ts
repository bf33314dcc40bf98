import { html } from "htm/preact";
import type { RunInfo } from "../../jobs/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { Table } from "../parts/table.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { lasted, OutcomeBadge, purposeOf, Result } from "./job-words.ts";

interface JobRunsProps {
  readonly viewer: Viewer;
  readonly kind: string;
  readonly page: { readonly runs: readonly RunInfo[]; readonly nextBefore: string | null };
  readonly isLater: boolean;
}

/** How the jobs of one kind went. */
export function JobRunsPage({ viewer, kind, page: { runs, nextBefore }, isLater }: JobRunsProps) {
  return html`
    <${Layout} title=${`Runs of ${kind}`} viewer=${viewer} here="/jobs">
      <${PageHead}
        title=${html`<${Text} text=${kind} limit=${100} />`}
        mono
        trail=${[{ href: address("/jobs"), label: "Jobs" }]}
        lead=${purposeOf(kind)}
      />
      ${
        runs.length === 0
          ? html`<p class="empty">No run ${isLater ? "before this one" : "that this key may see"}. Runs are kept for 30 days; those of the server’s own jobs are seen by the owner of its only org, and on the command line.</p>`
          : html`<${Table}
              caption=${`Runs of ${kind}, newest first`}
              columns=${["Began", "How it went", "What it did", { label: "Took", number: true }]}
              rows=${runs.map((run) => [
                html`<${Time} at=${new Date(run.startedAt)} />`,
                html`<${OutcomeBadge} outcome=${run.outcome} />${run.attempt > 1 && html` <span class="muted">attempt ${run.attempt}</span>`}`,
                run.outcome === "running" ? "" : html`<span><${Result} run=${run} /></span>`,
                lasted(run.startedAt, run.finishedAt),
              ])}
            />`
      }
      <${Pager}
        label="Pages of runs"
        back=${isLater && { href: address("/jobs", { kind }), label: "Newest runs" }}
        on=${nextBefore !== null && { href: address("/jobs", { kind, before: nextBefore }), label: "Earlier runs" }}
      />
    <//>
  `;
}
