import { html } from "htm/preact";
import { mayExport } from "../../export/reach.ts";
import { TIERS } from "../../facts/fact.ts";
import {
  type FactPage,
  type FactQuery,
  type ListedFact,
  SHOWN_ABOVE,
} from "../../facts/listing.ts";
import { mayChange, placedIn } from "../../facts/reach.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Field, FilterForm, Select } from "../parts/filter-form.ts";
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
  const chosen = choiceOf(query);
  const at = (over: Readonly<Record<string, string | boolean | null | undefined>>) =>
    listAddress(place, { ...chosen, ...over });
  const isNarrow = query.pinned || query.contested || query.archived;
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
            !isNarrow &&
            (query.all
              ? html`Everything that is kept, faded and put-away facts too. <a href=${at({ all: undefined })}>Only live ones above ${SHOWN_ABOVE}</a>`
              : html`Live facts with a score above ${SHOWN_ABOVE}, and pinned ones, the strongest first. <a href=${at({ all: true })}>Show all</a>`)
          }
          ${mayExport(viewer.principal, place.scope) && html`<${ExportLink} place=${place} name=${name} />`}
        </p>
        ${page.facts.length === 0 ? html`<${Nothing} query=${query} more=${page.nextBefore !== null} />` : html`<ul class="facts">${page.facts.map((fact) => html`<${Item} fact=${fact} viewer=${viewer} place=${place} />`)}</ul>`}
        <${Pager}
          label="Pages of facts"
          back=${query.before !== undefined && { href: at({}), label: "Strongest facts" }}
          on=${page.nextBefore !== null && { href: at({ before: page.nextBefore }), label: page.facts.length === 0 ? "Look further" : "Weaker facts" }}
        />
      </div>
    <//>
  `;
}

/** What was chosen, as the address says it. */
function choiceOf({ agentId, all, search, tier, tag, pinned, contested, archived }: FactQuery) {
  const only = pinned ? "pinned" : contested ? "contested" : archived ? "archived" : undefined;
  return { agent: agentId, all: all && !only, q: search, tier, tag, only };
}

function Filter({ place, query }: Pick<FactsProps, "query"> & Pick<NamedPlace, "place">) {
  const { all, q, agent, tier, tag, only } = choiceOf(query);
  return html`
    <${FilterForm}
      action="/ui/facts"
      live="#list"
      keep=${{ scope: place.scope, userId: place.userId, storeId: place.storeId, all: all ? "1" : undefined }}
    >
      <${Field} name="q" label="Words in key, tags or value" wide>
        <input id="q" name="q" type="search" maxlength="200" value=${q ?? ""} dir="auto" />
      <//>
      <${Field} name="only" label="Show">
        <${Select} name="only" chosen=${only} options=${ONLY} />
      <//>
      <${Field} name="tier" label="Tier">
        <${Select} name="tier" chosen=${tier} options=${[["", "every tier"], ...Object.keys(TIERS).map((name) => [name, name] as const)]} />
      <//>
      <${Field} name="tag" label="Tag">
        <input id="tag" name="tag" maxlength="40" placeholder="any" value=${tag ?? ""} dir="auto" />
      <//>
      <${Field} name="agent" label="Agent">
        <input id="agent" name="agent" maxlength="63" placeholder="all" autocapitalize="off" value=${agent ?? ""} />
      <//>
    <//>
  `;
}

const ONLY = [
  ["", "every fact"],
  ["pinned", "pinned ones"],
  ["contested", "contested ones"],
  ["archived", "put-away ones"],
] as const;

interface NothingProps {
  readonly query: FactQuery;
  /** Whether there is more to look through. */
  readonly more: boolean;
}

function Nothing({ query, more }: NothingProps) {
  if (more)
    return html`<p class="empty">No fact matches among the strongest. There are more to look through.</p>`;
  const { all, search, agentId, before, tier, tag } = query;
  const isNarrow = [search, agentId, before, tier, tag].some((chosen) => chosen !== undefined);
  if (isNarrow) return html`<p class="empty">No fact matches.</p>`;
  return html`<p class="empty">${all ? "Nothing is remembered here." : "Nothing is remembered here above this score."} What agents note in conversations comes here.</p>`;
}

interface ItemProps {
  readonly fact: ListedFact;
  readonly viewer: Viewer;
  readonly place: NamedPlace["place"];
}

function Item({ fact, viewer, place }: ItemProps) {
  const { factId, key, value, agentId, tier, tags, confirmations, lastConfirmed, score } = fact;
  const mayDecide = mayChange(viewer.principal, placedIn(viewer.principal.orgId, place, agentId));
  return html`
    <li class=${fact.archivedReason === null ? "fact" : "fact away"}>
      <div class="fact-head">
        <a class="key" href=${factAddress(factId)}>${key}</a>
        <${Badges} fact=${fact} />
        <${Score} value=${score} />
      </div>
      <p class="value" dir="auto"><${Value} value=${value} limit=${SHOWN_CHARACTERS} /></p>
      <p class="muted meta">
        <span>noted by ${agentId}</span>
        <span>${tier}</span>
        ${tags.length > 0 && html`<span><${Text} text=${tags.join(", ")} /></span>`}
        <span>${confirmations === 1 ? "said once" : `confirmed ${confirmations} times`}</span>
        <span>last on <${Day} at=${lastConfirmed} /></span>
      </p>
      ${mayDecide && html`<${Quick} fact=${fact} />`}
    </li>
  `;
}

/** What is wanted most often, without opening the fact. */
function Quick({ fact: { factId, key, pinned, archivedReason } }: { readonly fact: ListedFact }) {
  const action = factAddress(factId);
  const of = html`<span class="hidden"> ${key}</span>`;
  return html`
    <form class="quick" method="post" action=${action}>
      ${
        archivedReason === null
          ? html`<button class="quiet small" name="decision" value=${pinned ? "unpin" : "pin"}>${pinned ? "Unpin" : "Pin"}${of}</button>`
          : html`<button class="quiet small" name="decision" value="restore">Take back${of}</button>`
      }
      <a href=${`${action}#delete`}>Delete${of}</a>
    </form>
  `;
}
