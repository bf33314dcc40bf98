import { html } from "htm/preact";
import type { Inspection } from "../../recall/assembly.ts";
import { SHARES } from "../../recall/tiers.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Shares, Swatch } from "../parts/bars.ts";
import { Field, FilterForm, Select } from "../parts/filter-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { PeopleRows } from "../parts/people-list.ts";
import { Table } from "../parts/table.ts";
import { nameOf } from "../places.ts";
import type { PreviewQuery } from "../preview-routes.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { FactHits, MessageHits } from "./hits.ts";

interface PreviewProps {
  readonly viewer: Viewer;
  readonly asked: PreviewQuery;
  readonly person: PersonCard | undefined;
  /** Those whose name was typed, where they are several. */
  readonly choices: readonly PersonCard[] | undefined;
  readonly store: { readonly id: string } | undefined;
  readonly stores: readonly { readonly id: string; readonly name: string }[];
  readonly budget: number;
  /** Undefined before something was asked. */
  readonly inspection: Inspection | undefined;
}

/** What an agent is given: the blocks as they are, and why each line stands in them. */
export function PreviewPage(props: PreviewProps) {
  const { viewer, asked, person, choices, inspection, budget } = props;
  const isBound = viewer.principal.pins.userId !== undefined;
  return html`
    <${Layout} title="What the agent sees" viewer=${viewer} here="/preview">
      <${PageHead}
        title="What the agent sees"
        trail=${person && !isBound ? [{ href: personAddress(person.id), label: html`<${Text} text=${nameOf(person)} limit=${80} />` }] : []}
        lead=${isBound ? "What an agent recalls of this person. Rules and facts of the org, which it is given too, are not shown to this key." : "The very bytes that an agent gets for its prompt, and why each line stands in them. Looking changes nothing."}
      />
      <${Ask} ...${props} />
      ${
        choices &&
        html`
          <h2>Who is meant?</h2>
          <${PeopleRows} people=${choices} isNarrow hrefOf=${(userId: string) => address("/preview", { ...asked, userId })} />
        `
      }
      ${
        inspection
          ? html`<${Answer} inspection=${inspection} budget=${budget} isBound=${isBound} isSearched=${asked.query !== undefined} />`
          : !choices &&
            html`<p class="empty">Choose a person, a store or both, and type what the agent is asked. Without words you see what it is given before anybody says something.</p>`
      }
    <//>
  `;
}

function Ask({ viewer, asked, person, store, stores }: PreviewProps) {
  const { pins } = viewer.principal;
  const options = [["", "None"], ...stores.map(({ id, name }) => [id, name] as const)] as const;
  return html`
    <div class="ask">
    <${FilterForm} action="/ui/preview" button="Look">
      <${Field} name="query" label="What the agent is asked" wide>
        <input id="query" name="query" type="search" maxlength="2000" dir="auto" value=${asked.query ?? ""} />
      <//>
      ${
        pins.userId === undefined &&
        html`
          <${Field} name="userId" label="Person: name or id">
            <input id="userId" name="userId" maxlength="320" dir="auto" value=${person ? nameForField(person) : (asked.userId ?? "")} />
          <//>
        `
      }
      ${
        pins.userId === undefined &&
        pins.storeId === undefined &&
        stores.length > 0 &&
        html`
          <${Field} name="storeId" label="Store">
            <${Select} name="storeId" chosen=${store?.id} options=${options} />
          <//>
        `
      }
      ${
        pins.agentId === undefined &&
        html`
          <${Field} name="agentId" label="Agent">
            <input id="agentId" name="agentId" maxlength="63" placeholder=${viewer.principal.defaultAgent} value=${asked.agentId ?? ""} />
          <//>
        `
      }
      <${Field} name="asOf" label="As of (UTC)">
        <input id="asOf" name="asOf" type="datetime-local" value=${asked.asOf ?? ""} />
      <//>
    <//>
    </div>
  `;
}

/** An id that finds the same person again, readable where a channel gave one. */
function nameForField({ identities, id }: PersonCard): string {
  return identities[0] ?? id;
}

interface AnswerProps {
  readonly inspection: Inspection;
  readonly budget: number;
  readonly isBound: boolean;
  readonly isSearched: boolean;
}

function Answer({ inspection, budget, isBound, isSearched }: AnswerProps) {
  const { answer } = inspection;
  return html`
    ${answer.disabled && html`<p class="notice warn">Memory is switched off here, for this org or for this person's side of the comparison: the agent is given nothing.</p>`}
    ${answer.degraded && html`<p class="notice warn">Searched by words alone: the model that compares meanings is away.</p>`}
    <section aria-labelledby="memory">
      <h2 id="memory">Memory block</h2>
      ${
        answer.memoryBlock === ""
          ? html`<p class="empty">Empty: nothing is remembered that would stand here.</p>`
          : html`<pre class="block"><${Text} text=${answer.memoryBlock} /></pre>`
      }
    </section>
    <${Tiers} inspection=${inspection} budget=${budget} />
    ${
      !isBound &&
      html`
        <section aria-labelledby="stable">
          <h2 id="stable">Stable block</h2>
          ${
            answer.stableBlock === ""
              ? html`<p class="empty">Empty: no rules are written.</p>`
              : html`<pre class="block"><${Text} text=${answer.stableBlock} /></pre>`
          }
          <p class="hint">Rules of the org and the store. It stays the same from one message to the next, so that it can be cached. Both blocks together have the mark <code>${answer.etag}</code>, which changes when a byte of them does.</p>
        </section>
      `
    }
    <${FactHits} inspection=${inspection} isSearched=${isSearched} />
    ${isSearched && html`<${MessageHits} inspection=${inspection} />`}
  `;
}

const TIERS = {
  core: { name: "Core", what: "pinned facts and those that last", share: SHARES.core },
  working: { name: "Working", what: "what was confirmed last", share: SHARES.working },
  archival: { name: "Archival", what: "what answers the words best", share: undefined },
} as const;

function Tiers({ inspection: { block }, budget }: Pick<AnswerProps, "inspection" | "budget">) {
  const spent = block.tiers.reduce((sum, { tokens }) => sum + tokens, 0);
  const parts = block.tiers.map(({ name, tokens }) => ({ label: name, value: tokens }));
  const rows = block.tiers.map(({ name, lines, tokens }, at) => {
    const { share, ...tier } = TIERS[name];
    const watch = lines.filter(({ section }) => section === "watch").length;
    return [
      html`<span><${Swatch} part=${at + 1} /> <strong>${tier.name}</strong>: ${tier.what}</span>`,
      `${lines.length}${watch > 0 ? ` (${watch} seen on other sites)` : ""}`,
      tokens,
      share === undefined ? "what is left" : `at most ${Math.round(share * 100)} %`,
    ];
  });
  return html`
    <section aria-labelledby="tiers">
      <h2 id="tiers">What takes the room</h2>
      <p>${block.tokens.toLocaleString("en")} of ${budget.toLocaleString("en")} tokens: ${spent} by lines, the rest by what frames them. Tokens are counted on the high side.</p>
      <${Shares} parts=${parts} total=${budget} />
      <${Table}
        caption="Lines and tokens by tier"
        columns=${["Tier", { label: "Lines", number: true }, { label: "Tokens", number: true }, "Of the budget"]}
        rows=${rows}
      />
    </section>
  `;
}
