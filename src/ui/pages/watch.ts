import { html } from "htm/preact";
import type { ClaimCard, WatchPage, WatchQuery } from "../../facts/org-review.ts";
import { address, factAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { type Names, nameIn } from "../places.ts";
import { Day, Score, Text, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface WatchProps {
  readonly viewer: Viewer;
  readonly page: WatchPage;
  readonly names: Names;
  readonly query: WatchQuery;
}

/** What was learned about other sites: never a fact about us. */
export function WatchScreen({ viewer, page, names, query: { site, before } }: WatchProps) {
  const sites = Map.groupBy(page.facts, ({ key }) => siteOf(key));
  return html`
    <${Layout} title="Watch" viewer=${viewer} here="/watch">
      <${PageHead}
        title=${site === undefined ? "Watch" : `Watch: ${site}`}
        trail=${site === undefined ? [] : [{ href: address("/watch"), label: "Watch" }]}
        lead="What agents learned about other sites, the newest first. It is kept apart from what is true of you, halves every 60 days and is deleted after 180."
      />
      ${
        page.facts.length === 0
          ? html`<p class="empty">Nothing was learned about other sites. Facts under keys such as <code>watch.acme.pricing</code> come here.</p>`
          : [...sites].map(
              ([name, facts]) =>
                html`<${Site} name=${name} facts=${facts} names=${names} isAlone=${site !== undefined} />`,
            )
      }
      <${Pager}
        label="Pages of watch facts"
        back=${before !== undefined && { href: address("/watch", { site }), label: "Newest" }}
        on=${page.nextBefore !== null && { href: address("/watch", { site, before: page.nextBefore }), label: "Earlier" }}
      />
    <//>
  `;
}

interface SiteProps {
  readonly name: string;
  readonly facts: readonly ClaimCard[];
  readonly names: Names;
  readonly isAlone: boolean;
}

function Site({ name, facts, names, isAlone }: SiteProps) {
  const id = `site-${name}`;
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${isAlone ? name : html`<a href=${address("/watch", { site: name })}>${name}</a>`}</h2>
      <ul class="facts">
        ${facts.map(
          (fact) => html`
            <li class="fact">
              <div class="fact-head">
                <a class="key" href=${factAddress(fact.factId)}>${fact.key.split(".").slice(2).join(".")}</a>
                <${Score} value=${fact.score} />
              </div>
              <p class="value" dir="auto"><${Value} value=${fact.value} limit=${280} /></p>
              <p class="muted meta">
                <span>noted by ${fact.agentId} for <${Text} text=${nameIn(names, fact)} limit=${80} /></span>
                <span>last on <${Day} at=${fact.lastConfirmed} /></span>
              </p>
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

function siteOf(key: string): string {
  return key.split(".")[1] ?? key;
}
