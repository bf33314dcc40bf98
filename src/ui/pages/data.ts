import { html } from "htm/preact";
import { isOwner } from "../../access/principal.ts";
import { mayExport } from "../../export/reach.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { ConfirmForm } from "../parts/confirm-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { ExportForm } from "./export-form.ts";

/** Of whom or what the forms are. */
export interface DataSubject {
  readonly kind: "user" | "store" | "org";
  /** The internal id; of the org none is needed. */
  readonly id: string;
  readonly name: string;
  /** What has to be typed. */
  readonly word: string;
}

interface DataProps {
  readonly viewer: Viewer;
  readonly subject: DataSubject;
  readonly stores: readonly { readonly id: string; readonly name: string }[];
  readonly fault: { readonly of: "erase" | "reset"; readonly text: string } | undefined;
}

const ERASED = {
  user: "Everything of this person goes: who they are on every channel, what they said and were told, entries, facts, what the history tells of them, and facts of the org and its stores that came from them alone. Whoever was linked into them goes too. If they write again, they are somebody new.",
  store:
    "The store goes with its facts, its messages and what was learned from them, its channel accounts, rules and keys. The people who wrote to it stay.",
  org: "The whole org goes: everybody in it, every store, key, fact and message, and its audit trail. What stays is the list of erasures. This key stops working at once.",
} as const;

/** What can be taken along of somebody or something, and made to go away. */
export function DataPage({ viewer, subject, stores, fault }: DataProps) {
  const { kind, id, name, word } = subject;
  const faultOf = (form: "erase" | "reset") => (fault?.of === form ? fault.text : undefined);
  const of = { user: { userId: id }, store: { storeId: id }, org: {} }[kind];
  const title = kind === "org" ? "Export and erase" : `Data of ${name}`;
  return html`
    <${Layout} title="Export and erase" viewer=${viewer} here="/data">
      <${PageHead}
        title=${html`<${Text} text=${title} limit=${80} />`}
        trail=${kind === "org" ? [] : [{ href: address("/data"), label: "Export and erase" }]}
        lead=${isOwner(viewer.principal) ? "What is kept can be taken along, and made to go away for good: a report shows that it did." : "What is kept can be taken along."}
      />
      ${mayExport(viewer.principal, kind) && html`<${ExportForm} kind=${kind} id=${id} />`}
      ${
        isOwner(viewer.principal) &&
        html`
          <section aria-labelledby="reset">
            <h2 id="reset">Forget what was learned</h2>
            <${ConfirmForm} id="reset" action=${address("/data/reset")} word=${word} button="Forget what was learned" fault=${faultOf("reset")}>
              <input type="hidden" name="scope" value=${kind} />
              <${Hidden} fields=${of} />
              <p>The facts of ${kind === "user" ? "this person" : `the ${kind}`} go, with what the history tells of them. People, messages and entries stay.</p>
            <//>
          </section>
          <section aria-labelledby="erase">
            <h2 id="erase">Erase ${kind === "user" ? "the person" : `the ${kind}`}</h2>
            <${ConfirmForm} id="erase" action=${address("/data/erase")} word=${word} button="Erase for good" fault=${faultOf("erase")}>
              <input type="hidden" name="kind" value=${kind} />
              <${Hidden} fields=${of} />
              <p>${ERASED[kind]} It cannot be undone.</p>
            <//>
          </section>
        `
      }
      ${
        kind === "org" &&
        html`
          <section aria-labelledby="others">
            <h2 id="others">Of somebody, or of a store</h2>
            <ul class="rows">
              <li class="row"><a class="row-name" href=${address("/people")}>Choose a person</a></li>
              ${stores.map((store) => html`<li class="row"><a class="row-name" href=${address("/data", { storeId: store.id })}><${Text} text=${store.name} limit=${80} /></a></li>`)}
            </ul>
          </section>
        `
      }
      ${isOwner(viewer.principal) && html`<p><a href=${address("/erasures")}>What was erased, with reports</a></p>`}
    <//>
  `;
}

function Hidden({ fields }: { readonly fields: Readonly<Record<string, string>> }) {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}`;
}
