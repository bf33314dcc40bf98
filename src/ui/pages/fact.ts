import { html } from "htm/preact";
import type { Explanation } from "../../facts/explanation.ts";
import { mayChange, placedIn } from "../../facts/reach.ts";
import type { FactRecord } from "../../facts/record.ts";
import { address, factAddress, listAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Fields } from "../parts/fields.ts";
import { PageHead } from "../parts/page-head.ts";
import { Said } from "../parts/source.ts";
import type { NamedPlace } from "../places.ts";
import { Score, Text, Time, typeOf, Value } from "../text.ts";
import type { RefusedEdit } from "../value-form.ts";
import type { Viewer } from "../viewer.ts";
import type { KeyNames } from "./actor.ts";
import { Badges } from "./badges.ts";
import { FactForms } from "./fact-forms.ts";
import { History } from "./history.ts";
import { Decisions, Rivals, Why } from "./why.ts";

interface FactProps {
  readonly viewer: Viewer;
  readonly named: NamedPlace;
  readonly explanation: Explanation;
  readonly names: KeyNames;
  readonly done?: string | undefined;
  /** What was sent to be the new value and could not be. */
  readonly refused?: RefusedEdit | undefined;
}

/** One fact: what it says, what can be done with it, and why it is believed. */
export function FactPage({
  viewer,
  named: { place, name },
  explanation,
  names,
  done,
  refused,
}: FactProps) {
  const { fact } = explanation;
  const canChange = mayChange(
    viewer.principal,
    placedIn(viewer.principal.orgId, fact, fact.agentId),
  );
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
      <${Contradictions} fact=${fact} explanation=${explanation} canChange=${canChange} />
      <${Why} explanation=${explanation} viewer=${viewer} names=${names} />
      ${
        canChange
          ? html`<${FactForms} fact=${fact} refused=${refused} />`
          : html`<p class="empty">This key may look at this fact and not change it${reasonOf(fact, viewer)}. Whoever runs this server can correct or delete it for you.</p>`
      }
      <${Rivals} explanation=${explanation} />
      <${Decisions} explanation=${explanation} viewer=${viewer} names=${names} />
      <${History} events=${fact.events} viewer=${viewer} names=${names} />
    <//>
  `;
}

/** Why a key may not change what it sees, where a person would wonder. */
function reasonOf({ agentId, scope }: FactRecord, { principal: { pins } }: Viewer): string {
  if (scope !== "user") return `: facts of the ${scope} need an admin’s key`;
  if (pins.agentId === undefined || pins.agentId === agentId) return "";
  return `: it speaks for the agent ${pins.agentId} only, and ${agentId} noted this`;
}

function Details({ fact }: { readonly fact: FactRecord }) {
  const { score, confirmations, tier, tags, agentId, value, supersededBy } = fact;
  return html`
    <${Fields}
      fields=${[
        ["Score now", html`<${Score} value=${score} />`],
        ["Said", confirmations === 1 ? "once" : `${confirmations} times`],
        ["Last said", html`<${Time} at=${fact.lastConfirmed} />`],
        ["Agent", agentId],
        ["Tier", tier],
        ["Type", typeOf(value)],
        tags.length > 0 && ["Tags", html`<${Text} text=${tags.join(", ")} />`],
        supersededBy && [
          "Replaced by",
          html`<a href=${factAddress(supersededBy)}>the newer fact</a>`,
        ],
      ]}
    />
  `;
}

interface ContradictionsProps {
  readonly fact: FactRecord;
  readonly explanation: Explanation;
  readonly canChange: boolean;
}

function Contradictions({ fact, explanation, canChange }: ContradictionsProps) {
  if (fact.contradicts.length === 0) return null;
  const against = explanation.rivals.filter(({ isLive }) => isLive);
  return html`
    <section class="contest" aria-labelledby="contest">
      <h2 id="contest">Something else is said under this key</h2>
      <ul class="rows">
        ${against.map(
          ({ factId, value, statements }) => html`
            <li class="row entry">
              <p dir="auto"><a href=${factAddress(factId)}><${Value} value=${value} limit=${280} /></a></p>
              ${statements.slice(0, 1).map((statement) => html`<${Said} statement=${statement} />`)}
            </li>
          `,
        )}
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
