import { html } from "htm/preact";
import type { Contest, ContestPage } from "../../facts/org-review.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { inPlace } from "../live.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { Said } from "../parts/source.ts";
import { type Names, nameIn } from "../places.ts";
import { Day, Score, Text, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { InboxTabs } from "./inbox-tabs.ts";

interface InboxProps {
  readonly viewer: Viewer;
  readonly page: ContestPage;
  readonly names: Names;
  readonly before: string | undefined;
  readonly done: string | undefined;
}

/** What is said in two ways, for somebody to decide. */
export function InboxPage({ viewer, page, names, before, done }: InboxProps) {
  return html`
    <${Layout} title="Inbox" viewer=${viewer} here="/inbox">
      <${PageHead}
        title="Inbox"
        lead="Things that were said in two ways. Agents see both until you decide, or until the newer one was said three times."
        done=${done}
      />
      <${InboxTabs} viewer=${viewer} current="contradictions" />
      ${
        page.contests.length === 0
          ? html`<p class="empty">Nothing waits here. When somebody says something else than before, both values come to this page.</p>`
          : page.contests.map(
              (contest) => html`<${One} contest=${contest} name=${nameIn(names, contest)} />`,
            )
      }
      <${Pager}
        label="Pages of contradictions"
        back=${before !== undefined && { href: address("/inbox"), label: "Newest" }}
        on=${page.nextBefore !== null && { href: address("/inbox", { before: page.nextBefore }), label: "Earlier" }}
      />
    <//>
  `;
}

interface OneProps {
  readonly contest: Contest;
  readonly name: string;
}

function One({ contest, name }: OneProps) {
  const { key, values, more, mayDecide, agentId } = contest;
  const id = `contest-${values[0]?.factId}`;
  const newest = values[0]?.factId ?? "";
  return html`
    <section class="sheet" aria-labelledby=${id}>
      <h2 id=${id} class="key">${key}</h2>
      <p class="muted">About <a href=${listAddress(contest)}><${Text} text=${name} limit=${80} /></a>, noted by ${agentId}.</p>
      <div class="sides">
        ${values.map(
          (value, at) => html`
            <div class="side-by-side">
              <p class="value" dir="auto"><a href=${factAddress(value.factId)}><${Value} value=${value.value} limit=${280} /></a></p>
              <p class="muted meta">
                <span>${label(at, values.length)}, last said on <${Day} at=${value.lastConfirmed} /></span>
                <span>${value.confirmations === 1 ? "said once" : `said ${value.confirmations} times`}</span>
                <${Score} value=${value.score} />
              </p>
              ${value.statements.map((statement) => html`<${Said} statement=${statement} />`)}
              ${mayDecide && html`<${Decide} factId=${value.factId} decision="settle" label=${choose(at, values.length)} of=${key} />`}
            </div>
          `,
        )}
      </div>
      ${more > 0 && html`<p class="hint">And ${more} more. <a href=${factAddress(newest)}>Look at all of them</a></p>`}
      ${mayDecide && html`<${Decide} factId=${newest} decision="keep_all" label=${values.length === 2 ? "Both are true" : "All are true"} of=${key} quiet />`}
    </section>
  `;
}

function label(at: number, of: number): string {
  if (at === 0) return "The newer one";
  return of === 2 ? "The older one" : "An older one";
}

function choose(at: number, of: number): string {
  if (at === 0) return "Accept the new one";
  return of === 2 ? "Keep the old one" : "Keep this one";
}

interface DecideProps {
  readonly factId: string;
  readonly decision: "settle" | "keep_all";
  readonly label: string;
  readonly of: string;
  readonly quiet?: boolean;
}

function Decide({ factId, decision, label, of, quiet = false }: DecideProps) {
  const action = factAddress(factId);
  return html`
    <form method="post" action=${action} ...${inPlace(action)}>
      <input type="hidden" name="from" value="inbox" />
      <button class=${quiet ? "quiet" : undefined} name="decision" value=${decision}>${label}<span class="hidden"> for ${of}</span></button>
    </form>
  `;
}
