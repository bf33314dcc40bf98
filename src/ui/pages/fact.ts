import { html } from "htm/preact";
import { mayChange } from "../../facts/reach.ts";
import type { FactRecord } from "../../facts/record.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import type { NamedPlace } from "../places.ts";
import { Score, Text, Time, typeOf, Value } from "../text.ts";
import type { RefusedEdit } from "../value-form.ts";
import type { Viewer } from "../viewer.ts";
import { Badges } from "./badges.ts";
import { FactForms } from "./fact-forms.ts";
import { History } from "./history.ts";

interface FactProps {
  readonly viewer: Viewer;
  readonly named: NamedPlace;
  readonly fact: FactRecord;
  readonly done?: string | undefined;
  /** What was sent to be the new value and could not be. */
  readonly refused?: RefusedEdit | undefined;
}

/** One fact: what it says, what can be done with it, and why it is believed. */
export function FactPage({ viewer, named: { place, name }, fact, done, refused }: FactProps) {
  const canChange = mayChange(viewer.principal, placed(viewer, fact));
  return html`
    <${Layout} title=${fact.key} viewer=${viewer} here="/facts">
      <${PageHead}
        title=${fact.key}
        mono
        trail=${[
          { href: address("/facts"), label: "Facts" },
          { href: listAddress(place), label: html`Facts of <${Text} text=${name} limit=${80} />` },
        ]}
        done=${done}
      >
        <${Badges} fact=${fact} />
      <//>
      <div class="said" dir="auto"><${Value} value=${fact.value} /></div>
      <${Details} fact=${fact} />
      <${Contradictions} fact=${fact} canChange=${canChange} />
      ${
        canChange
          ? html`<${FactForms} fact=${fact} refused=${refused} />`
          : html`<p class="empty">This key may look at this fact and not change it.</p>`
      }
      <${History} fact=${fact} viewer=${viewer} />
    <//>
  `;
}

function placed({ principal: { orgId } }: Viewer, fact: FactRecord) {
  const { agentId, storeId = "", userId = "" } = fact;
  const row = { agentId };
  switch (fact.scope) {
    case "org":
      return { scope: { name: "org", orgId }, row } as const;
    case "store":
      return { scope: { name: "store", orgId, storeId }, row } as const;
    case "user":
      return { scope: { name: "user", orgId, userId }, row } as const;
  }
}

function Details({ fact }: Pick<FactProps, "fact">) {
  const { score, confidence, halfLifeDays, confirmations, tier, tags, agentId, value } = fact;
  return html`
    <dl class="details">
      <div><dt>Score now</dt><dd><${Score} value=${score} /></dd></div>
      <div>
        <dt>Confidence</dt>
        <dd>${confidence.toFixed(2)}, halves every ${halfLifeDays} days</dd>
      </div>
      <div><dt>Said</dt><dd>${confirmations === 1 ? "once" : `${confirmations} times`}</dd></div>
      <div><dt>First seen</dt><dd><${Time} at=${fact.firstSeen} /></dd></div>
      <div><dt>Last confirmed</dt><dd><${Time} at=${fact.lastConfirmed} /></dd></div>
      <div><dt>Agent</dt><dd>${agentId}</dd></div>
      <div><dt>Tier</dt><dd>${tier}</dd></div>
      <div><dt>Type</dt><dd>${typeOf(value)}</dd></div>
      ${tags.length > 0 && html`<div><dt>Tags</dt><dd><${Text} text=${tags.join(", ")} /></dd></div>`}
      ${fact.fadesAt && html`<div><dt>Fades</dt><dd><${Time} at=${fact.fadesAt} /></dd></div>`}
      ${fact.expiresAt && html`<div><dt>Expires</dt><dd><${Time} at=${fact.expiresAt} /></dd></div>`}
      ${fact.supersededBy && html`<div><dt>Superseded by</dt><dd><a href=${factAddress(fact.supersededBy)}>the newer fact</a></dd></div>`}
    </dl>
  `;
}

interface ContradictionsProps {
  readonly fact: FactRecord;
  readonly canChange: boolean;
}

function Contradictions({ fact, canChange }: ContradictionsProps) {
  if (fact.contradicts.length === 0) return null;
  return html`
    <section class="contest" aria-labelledby="contest">
      <h2 id="contest">Something else is said under this key</h2>
      <ul class="rows">
        ${fact.contradicts.map(({ factId, value }) => html`<li class="row"><a href=${factAddress(factId)}><${Value} value=${value} limit=${280} /></a></li>`)}
      </ul>
      ${
        canChange &&
        html`
          <form class="together" method="post" action=${factAddress(fact.factId)}>
            <button name="decision" value="settle">This one is right</button>
            <button class="quiet" name="decision" value="keep_all">All of them are true</button>
          </form>
        `
      }
    </section>
  `;
}
