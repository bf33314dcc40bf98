import { html } from "htm/preact";
import type { JobInfo, ScheduledKind } from "../../jobs/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { lasted, OutcomeBadge, purposeOf, Result, whenOf } from "./job-words.ts";

interface JobsProps {
  readonly viewer: Viewer;
  readonly schedule: readonly ScheduledKind[];
  readonly running: readonly JobInfo[];
  readonly dead: readonly JobInfo[];
  /** Whether this key may begin a job before its time. */
  readonly mayStart: boolean;
  readonly done: string | undefined;
}

/** What the server does by itself. */
export function JobsPage({ viewer, schedule, running, dead, mayStart, done }: JobsProps) {
  return html`
    <${Layout} title="Jobs" viewer=${viewer} here="/jobs">
      <${PageHead}
        title="Jobs"
        lead="What the server does by itself. Jobs go over every org of the server; their runs are kept for 30 days."
        done=${done}
      />
      ${dead.length > 0 && html`<${Dead} dead=${dead} />`}
      ${running.length > 0 && html`<${Running} running=${running} />`}
      <section aria-labelledby="schedule">
        <h2 id="schedule">What there is to do</h2>
        <ul class="rows">
          ${schedule.map((scheduled) => html`<${Kind} scheduled=${scheduled} mayStart=${mayStart} />`)}
        </ul>
      </section>
    <//>
  `;
}

function Dead({ dead }: Pick<JobsProps, "dead">) {
  return html`
    <section aria-labelledby="dead">
      <h2 id="dead">Given up</h2>
      <ul class="rows">
        ${dead.map(
          ({ id, kind, attempts, lastError, finishedAt }) => html`
            <li class="row">
              <span class="row-name">${purposeOf(kind) ?? kind}</span>
              <span class="badge bad">failed ${attempts} times</span>
              ${lastError !== null && html`<code><${Text} text=${lastError} limit=${200} /></code>`}
              ${finishedAt !== null && html`<span class="muted"><${Time} at=${new Date(finishedAt)} /></span>`}
              <form class="aside" method="post" action=${address(`/jobs/${id}/replay`)}>
                <button class="quiet small">Try again<span class="hidden"> ${kind}</span></button>
              </form>
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

function Running({ running }: Pick<JobsProps, "running">) {
  return html`
    <section aria-labelledby="running">
      <h2 id="running">Running now</h2>
      <ul class="rows">
        ${running.map(
          ({ kind, attempts }) => html`
            <li class="row">
              <a class="row-name" href=${address("/jobs", { kind })}>${purposeOf(kind) ?? kind}</a>
              <span class="muted">attempt ${attempts}</span>
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

interface KindProps {
  readonly scheduled: ScheduledKind;
  readonly mayStart: boolean;
}

function Kind({ scheduled: { kind, cron, nextAt, last }, mayStart }: KindProps) {
  return html`
    <li class="row job">
      <div class="grow">
        <p><a class="row-name" href=${address("/jobs", { kind })}>${purposeOf(kind) ?? kind}</a></p>
        <p class="muted meta">
          <code>${kind}</code>
          <span>${whenOf(cron)}</span>
          ${nextAt !== null && html`<span>next <${Time} at=${new Date(nextAt)} /></span>`}
        </p>
        ${
          last !== null &&
          html`
            <p class="muted meta">
              <${OutcomeBadge} outcome=${last.outcome} />
              <span>last <${Time} at=${new Date(last.startedAt)} /></span>
              ${last.finishedAt !== null && html`<span>took ${lasted(last.startedAt, last.finishedAt)}</span>`}
              ${last.outcome !== "running" && html`<span><${Result} run=${last} /></span>`}
            </p>
          `
        }
      </div>
      ${
        mayStart &&
        cron !== null &&
        html`
          <form method="post" action="/ui/jobs/start">
            <input type="hidden" name="kind" value=${kind} />
            <button class="quiet small">Start now<span class="hidden">: ${kind}</span></button>
          </form>
        `
      }
    </li>
  `;
}
