import { html } from "htm/preact";
import { mayExport } from "../../export/reach.ts";
import {
  type FactPage,
  type FactQuery,
  type ListedFact,
  SHOWN_ABOVE,
} from "../../facts/listing.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Field, FilterForm } from "../parts/filter-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import type { NamedPlace } from "../places.ts";
import { Day, Score, Text, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Badges } from "./badges.ts";
import { ExportLink } from "./export-link.ts";

const SHOWN_CHARACTERS = 280;

interface FactsProps {
  readonly viewer: Viewer;
  readonly named: NamedPlace;
  readonly query: FactQuery;
  readonly page: FactPage;
  readonly done: string | undefined;
}

/** The facts of one scope. */
export function FactsPage({ viewer, named: { place, name }, query, page, done }: FactsProps) {
  const { agentId: agent, all, search: q, before } = query;
  const at = (from?: string | null) => listAddress(place, { agent, all, q, before: from });
  return html`
    <${Layout} title=${`Facts of ${name}`} viewer=${viewer} here="/facts">
      <${PageHead}
        title=${html`Facts of <${Text} text=${name} limit=${80} />`}
        trail=${[{ href: address("/facts"), label: "Facts" }]}
        done=${done}
      />
      <${Filter} place=${place} query=${query} />
      <div id="list">
      <p class="summary">
        ${
          all
            ? html`Everything that is kept, put-away and faded facts too. <a href=${listAddress(place, { agent, q })}>Only live ones above ${SHOWN_ABOVE}</a>`
            : html`Live facts with a score above ${SHOWN_ABOVE}, and pinned ones. <a href=${listAddress(place, { agent, q, all: true })}>Show all</a>`
        }
        ${mayExport(viewer.principal, place.scope) && html`<${ExportLink} place=${place} name=${name} />`}
      </p>
      ${page.facts.length === 0 ? html`<${Nothing} query=${query} />` : html`<ul class="facts">${page.facts.map((fact) => html`<${Item} fact=${fact} />`)}</ul>`}
      <${Pager}
        label="Pages of facts"
        back=${before !== undefined && { href: at(), label: "Strongest facts" }}
        on=${page.nextBefore !== null && { href: at(page.nextBefore), label: "Weaker facts" }}
      />
      </div>
    <//>
  `;
}

function Filter({ place, query }: Pick<FactsProps, "query"> & Pick<NamedPlace, "place">) {
  return html`
    <${FilterForm}
      action="/ui/facts"
      live="#list"
      keep=${{ scope: place.scope, userId: place.userId, storeId: place.storeId, all: query.all ? "1" : undefined }}
    >
      <${Field} name="q" label="Words in key, tags or value" wide>
        <input id="q" name="q" type="search" maxlength="200" value=${query.search ?? ""} dir="auto" />
      <//>
      <${Field} name="agent" label="Agent">
        <input id="agent" name="agent" maxlength="63" placeholder="all" value=${query.agentId ?? ""} />
      <//>
    <//>
  `;
}

function Nothing({ query: { all, search, agentId, before } }: Pick<FactsProps, "query">) {
  const isNarrow = search !== undefined || agentId !== undefined || before !== undefined;
  if (isNarrow) return html`<p class="empty">No fact matches.</p>`;
  return html`<p class="empty">${all ? "Nothing is remembered here." : "Nothing is remembered here above this score."}</p>`;
}

function Item({ fact }: { readonly fact: ListedFact }) {
  const { factId, key, value, agentId, tier, tags, confirmations, lastConfirmed, score } = fact;
  return html`
    <li class=${fact.archivedReason === null ? "fact" : "fact away"}>
      <div class="fact-head">
        <a class="key" href=${factAddress(factId)}>${key}</a>
        <${Badges} fact=${fact} />
        <${Score} value=${score} />
      </div>
      <p class="value" dir="auto"><${Value} value=${value} limit=${SHOWN_CHARACTERS} /></p>
      <p class="muted meta">
        <span>${agentId}</span>
        <span>${tier}</span>
        ${tags.length > 0 && html`<span><${Text} text=${tags.join(", ")} /></span>`}
        <span>${confirmations === 1 ? "said once" : `confirmed ${confirmations} times`}</span>
        <span>last on <${Day} at=${lastConfirmed} /></span>
      </p>
    </li>
  `;
}
