import { html } from "htm/preact";
import type { EntriesPage } from "../../kv/review.ts";
import type { PersonDetail } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { nameOfDetail } from "../places.ts";
import { Text, Time, Value } from "../text.ts";
import { type RefusedEdit, VALUE_KINDS, type WrittenValue } from "../value-form.ts";
import type { Viewer } from "../viewer.ts";

/** What was sent to be an entry and could not be. */
export interface RefusedEntry extends RefusedEdit {
  readonly key: string;
}

interface EntriesProps {
  readonly viewer: Viewer;
  readonly person: PersonDetail;
  readonly page: EntriesPage;
  readonly isLater: boolean;
  readonly refused?: RefusedEntry | undefined;
  readonly done?: string | undefined;
}

/** What agents keep of one person, key by key. */
export function EntriesScreen({ viewer, person, page, isLater, refused, done }: EntriesProps) {
  const at = (after?: string | null) => personAddress(person.id, { after }, "/memory");
  return html`
    <${Layout} title="Entries" viewer=${viewer} here="/people">
      <${EntriesHead}
        person=${person}
        title="Entries that agents keep"
        lead="Values that agents note under a key and read with every answer. They do not fade, and are no facts: nobody looks for their sources."
        done=${done}
      />
      ${
        page.entries.length === 0
          ? html`<p class="empty">There are none.</p>`
          : html`
              <ul class="rows">
                ${page.entries.map(
                  ({ key, value, agentId, updatedAt }) => html`
                    <li class="row entry">
                      <p><a class="key" href=${personAddress(person.id, { key }, "/memory/entry")}><${Text} text=${key} /></a></p>
                      <p dir="auto"><${Value} value=${value} limit=${280} /></p>
                      <p class="muted">written by ${agentId} on <${Time} at=${new Date(updatedAt)} /></p>
                    </li>
                  `,
                )}
              </ul>
            `
      }
      <${Pager}
        label="Pages of entries"
        back=${isLater && { href: at(), label: "First entries" }}
        on=${page.nextAfter !== null && { href: at(page.nextAfter), label: "More entries" }}
      />
      <section aria-labelledby="add">
        <h2 id="add">Add one</h2>
        <${EntryForm} person=${person} refused=${refused} />
      </section>
    <//>
  `;
}

interface EntryProps {
  readonly viewer: Viewer;
  readonly person: PersonDetail;
  readonly entry: {
    readonly key: string;
    readonly agentId: string;
    readonly updatedAt: string;
    readonly written: WrittenValue;
  };
  readonly refused?: RefusedEntry | undefined;
}

/** One entry, to be changed or deleted. */
export function EntryScreen({ viewer, person, entry, refused }: EntryProps) {
  const { key, agentId, updatedAt, written } = entry;
  return html`
    <${Layout} title=${key} viewer=${viewer} here="/people">
      <${EntriesHead}
        person=${person}
        title=${html`<${Text} text=${key} />`}
        mono
        lead=${html`Written by ${agentId} on <${Time} at=${new Date(updatedAt)} />.`}
      />
      <${EntryForm} person=${person} refused=${refused ?? { key, written, reason: "", fault: "" }} fixed />
      <details>
        <summary>Delete this entry</summary>
        <form class="stack" method="post" action=${personAddress(person.id, {}, "/memory/delete")}>
          <p>Agents do not read it any more. The value is gone for good; the audit trail keeps the key, who and why.</p>
          <input type="hidden" name="key" value=${key} />
          <label for="delete-reason">Why (optional)</label>
          <input id="delete-reason" name="reason" maxlength="240" dir="auto" />
          <button class="danger">Delete</button>
        </form>
      </details>
    <//>
  `;
}

interface FormProps {
  readonly person: PersonDetail;
  readonly refused: RefusedEntry | undefined;
  /** The key stands already. */
  readonly fixed?: boolean;
}

const KINDS = [
  "Text, kept as it stands",
  "JSON: a number, true, false, null, a list or an object",
] as const;

function EntryForm({ person, refused, fixed = false }: FormProps) {
  const { kind, text } = refused?.written ?? { kind: "text", text: "" };
  return html`
    <form class="stack" method="post" action=${personAddress(person.id, {}, "/memory")}>
      ${refused?.fault && html`<p class="notice bad" role="alert" id="fault"><${Text} text=${refused.fault} limit=${400} /></p>`}
      ${
        fixed
          ? html`<input type="hidden" name="key" value=${refused?.key} /><input type="hidden" name="known" value="1" />`
          : html`
              <label for="key">Key</label>
              <input id="key" name="key" maxlength="256" required dir="auto" value=${refused?.key ?? ""} autocapitalize="off" />
            `
      }
      <label for="value">Value</label>
      <textarea
        id="value"
        name="value"
        rows=${Math.min(16, Math.max(3, text.split("\n").length))}
        dir="auto"
        aria-describedby=${refused?.fault && "fault"}
      >${`\n${text}`}</textarea>
      <fieldset>
        <legend>Keep it as</legend>
        ${VALUE_KINDS.map((name, at) => html`<label class="choice"><input type="radio" name="kind" value=${name} checked=${name === kind} /> ${KINDS[at]}</label>`)}
      </fieldset>
      <label for="entry-reason">Why (optional)</label>
      <input id="entry-reason" name="reason" maxlength="240" dir="auto" value=${refused?.reason ?? ""} />
      <button>Save</button>
    </form>
  `;
}

interface HeadProps extends Pick<EntriesProps, "person" | "done"> {
  readonly title: unknown;
  readonly lead: unknown;
  readonly mono?: boolean;
}

function EntriesHead({ person, title, lead, mono, done }: HeadProps) {
  return html`
    <${PageHead}
      title=${title}
      mono=${mono}
      trail=${[
        { href: address("/people"), label: "People" },
        {
          href: personAddress(person.id),
          label: html`<${Text} text=${nameOfDetail(person)} limit=${80} />`,
        },
        ...(mono ? [{ href: personAddress(person.id, {}, "/memory"), label: "Entries" }] : []),
      ]}
      lead=${lead}
      done=${done}
    />
  `;
}
