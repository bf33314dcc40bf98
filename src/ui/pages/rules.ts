import { html } from "htm/preact";
import type { CurrentRules, RulesVersion } from "../../rules/rules.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { Tabs } from "../parts/tabs.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Actor, type KeyNames } from "./actor.ts";

/** A text that could not be saved, for the form to show again. */
export interface RefusedRules {
  readonly text: string;
  readonly reason: string;
  readonly fault: string;
}

interface RulesProps {
  readonly viewer: Viewer;
  readonly stores: readonly { readonly id: string; readonly name: string }[];
  readonly current: CurrentRules;
  readonly versions: readonly RulesVersion[];
  readonly nextBefore: string | null;
  /** The block that agents get. */
  readonly block: { readonly text: string; readonly tokens: number; readonly disabled: boolean };
  readonly names: KeyNames;
  readonly done: string | undefined;
  readonly refused: RefusedRules | undefined;
}

/** Where an org writes down what its agents have to know and to keep to. */
export function RulesPage(props: RulesProps) {
  const { viewer, stores, current, done } = props;
  const storeId = current.storeId ?? undefined;
  return html`
    <${Layout} title="Rules" viewer=${viewer} here="/rules">
      <${PageHead}
        title="Rules"
        lead="What every agent reads before anything it remembers: tone, policies, what never to promise. A store adds its own rules to those of the org."
        done=${done}
      />
      ${
        stores.length > 0 &&
        html`<${Tabs}
          label="Whose rules"
          tabs=${[{ id: undefined, name: "The org" }, ...stores].map(({ id, name }) => ({
            href: address("/rules", { storeId: id }),
            label: name,
            current: id === storeId,
          }))}
        />`
      }
      <${Editor} ...${props} />
      <${Block} block=${props.block} isStore=${storeId !== undefined} />
      <${Versions} ...${props} />
    <//>
  `;
}

function Editor({ current, refused, names }: RulesProps) {
  const { storeId, version, text, tokens, saved } = current;
  return html`
    <form class="stack wide" method="post" action="/ui/rules">
      ${refused && html`<p class="notice bad" role="alert" id="fault">${refused.fault}</p>`}
      ${storeId !== null && html`<input type="hidden" name="storeId" value=${storeId} />`}
      <input type="hidden" name="basedOn" value=${version} />
      <label for="text">${storeId === null ? "Rules of the org" : "Rules of this store"}, in Markdown</label>
      <textarea
        id="text"
        name="text"
        class="source"
        rows="16"
        dir="auto"
        spellcheck="true"
        aria-describedby=${refused ? "fault size" : "size"}
      >${`\n${refused?.text ?? text}`}</textarea>
      <p class="hint" id="size">
        ${
          saved === null
            ? "Nothing was saved yet. Each save is a new version, and agents read it with their next call."
            : html`Version ${version}, ${tokens} tokens of every prompt, saved <${Time} at=${new Date(saved.createdAt)} /> by <${Actor} actor=${saved.createdBy} names=${names} />.`
        }
      </p>
      <label for="reason">Why (may stay empty)</label>
      <input id="reason" name="reason" maxlength="240" dir="auto" value=${refused?.reason ?? ""} />
      <button>Save as version ${version + 1}</button>
    </form>
  `;
}

function Block({ block, isStore }: Pick<RulesProps, "block"> & { readonly isStore: boolean }) {
  const { text, tokens, disabled } = block;
  return html`
    <section aria-labelledby="block">
      <h2 id="block">As agents get it${isStore ? " in this store" : ""}</h2>
      ${
        disabled
          ? html`<p class="empty">Memory is switched off, so agents get no rules. <a href=${address("/comparison")}>Change that</a></p>`
          : text === ""
            ? html`<p class="empty">Nothing yet: agents get an empty block until rules are saved.</p>`
            : html`
              <p class="hint">The same for everybody, ${tokens} tokens. It stands first in a prompt and can be cached.</p>
              <pre class="block" tabindex="0" role="group" aria-labelledby="block"><${Text} text=${text} /></pre>
            `
      }
    </section>
  `;
}

function Versions({ current, versions, nextBefore, names }: RulesProps) {
  if (versions.length === 0) return null;
  const storeId = current.storeId ?? undefined;
  return html`
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <ul class="rows">
        ${versions.map(
          ({ id, version, reason, tokens, createdAt, createdBy }) => html`
            <li class="row">
              <a class="row-name" href=${address(`/rules/versions/${id}`)}>Version ${version}</a>
              ${version === current.version && html`<span class="badge good">in force</span>`}
              ${reason !== null && html`<span><${Text} text=${reason} /></span>`}
              <span class="muted meta">
                <span><${Time} at=${new Date(createdAt)} /></span>
                <${Actor} actor=${createdBy} names=${names} />
                <span>${tokens === 0 ? "empty" : `${tokens} tokens`}</span>
              </span>
            </li>
          `,
        )}
      </ul>
      <${Pager}
        label="Pages of versions"
        on=${nextBefore !== null && { href: address("/rules", { storeId, before: nextBefore }), label: "Earlier versions" }}
      />
    </section>
  `;
}
