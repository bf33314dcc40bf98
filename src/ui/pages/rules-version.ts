import { html } from "htm/preact";
import type { DiffLine } from "../../rules/diff.ts";
import type { CurrentRules } from "../../rules/rules.ts";
import type { RulesDiff } from "../../rules/service.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Fields } from "../parts/fields.ts";
import { PageHead } from "../parts/page-head.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Actor, type KeyNames } from "./actor.ts";

interface RulesVersionProps {
  readonly viewer: Viewer;
  /** Of the store whose rules they are. */
  readonly store: string | undefined;
  readonly diff: RulesDiff;
  readonly current: CurrentRules;
  readonly names: KeyNames;
}

/** One version of rules: what it changed, who saved it and why. */
export function RulesVersionPage({ viewer, store, diff, current, names }: RulesVersionProps) {
  const { before, after, lines } = diff;
  const { id, version, storeId, reason, tokens, createdAt, createdBy } = after;
  const rules = { href: address("/rules", { storeId }), label: "Rules" };
  const isInForce = version === current.version;
  return html`
    <${Layout} title=${`Version ${version} of the rules`} viewer=${viewer} here="/rules">
      <${PageHead}
        title=${store === undefined ? `Version ${version} of the org’s rules` : html`Version ${version} of the rules of <${Text} text=${store} limit=${80} />`}
        trail=${[rules]}
      >
        ${isInForce && html`<span class="badge good">in force</span>`}
      <//>
      <${Fields}
        fields=${[
          ["Saved", html`<${Time} at=${new Date(createdAt)} />`],
          ["By", html`<${Actor} actor=${createdBy} names=${names} />`],
          ["Why", reason === null ? "not said" : html`<${Text} text=${reason} />`],
          ["Size", tokens === 0 ? "empty" : `${tokens} tokens`],
        ]}
      />
      <section aria-labelledby="changes">
        <h2 id="changes">${before === null ? "What it says" : `What changed since version ${before.version}`}</h2>
        ${
          !isInForce &&
          html`<p class="hint"><a href=${address(`/rules/versions/${current.saved?.id}`, { against: id })}>Compare with the version in force</a></p>`
        }
        <${Lines} lines=${lines} />
      </section>
      ${
        !isInForce &&
        html`
          <section aria-labelledby="again">
            <h2 id="again">Let it count again</h2>
            <form class="stack" method="post" action=${address(`/rules/versions/${id}/restore`)}>
              <p>Its text becomes version ${current.version + 1}. Nothing is lost: version ${current.version} stays in the list.</p>
              <input type="hidden" name="basedOn" value=${current.version} />
              <label for="reason">Why (may stay empty)</label>
              <input id="reason" name="reason" maxlength="240" dir="auto" />
              <button>Restore version ${version}</button>
            </form>
          </section>
        `
      }
    <//>
  `;
}

const SIGNS = { same: "", removed: "−", added: "+" } as const;
const SAID = { same: "", removed: "Removed: ", added: "Added: " } as const;

function Lines({ lines }: { readonly lines: readonly DiffLine[] }) {
  if (lines.length === 0) return html`<p class="empty">It is empty: no rules from here on.</p>`;
  return html`
    <ol class="diff" dir="auto">
      ${lines.map(
        ({ kind, words }) => html`
          <li class=${`diff-line ${kind}`}>
            <span class="sign" aria-hidden="true">${SIGNS[kind]}</span>
            <span class="hidden">${SAID[kind]}</span>
            <span>${words.map(({ text, isChanged }) => (isChanged ? html`<mark><${Text} text=${text} /></mark>` : html`<${Text} text=${text} />`))}</span>
          </li>
        `,
      )}
    </ol>
  `;
}
