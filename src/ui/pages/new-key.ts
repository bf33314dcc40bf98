import { html } from "htm/preact";
import { hasRole, KEY_ROLES, type KeyRole } from "../../access/principal.ts";
import type { PersonCard } from "../../users/person.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { Select } from "../parts/filter-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { nameOf, otherNames } from "../places.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import type { DraftKey } from "./keys.ts";

interface NewKeyProps {
  readonly viewer: Viewer;
  readonly draft: DraftKey;
  readonly stores: readonly { readonly id: string; readonly name: string }[];
  /** Who was found under what was looked for; undefined before. */
  readonly found: readonly PersonCard[] | undefined;
  readonly hasMore: boolean;
  readonly fault: string | undefined;
}

const ROLES: Readonly<Record<KeyRole, string>> = {
  member: "member: remembers and recalls; what an agent needs",
  admin: "admin: also approves and links people, writes rules, makes keys",
  owner: "owner: also resets and erases",
};

/** Makes a key; the person it is for is looked for by the form's second button, which asks for this page again. */
export function NewKeyPage({ viewer, draft, stores, found, hasMore, fault }: NewKeyProps) {
  const roles = KEY_ROLES.filter((role) => hasRole(viewer.principal, role));
  return html`
    <${Layout} title="Make a key" viewer=${viewer} here="/keys">
      <${PageHead} title="Make a key" trail=${[{ href: address("/keys"), label: "Keys" }]} />
      <form class="stack" method="post" action="/ui/keys">
        ${fault && html`<p class="notice bad" role="alert"><${Text} text=${fault} limit=${400} /></p>`}
        <label for="name">Name: who or what will hold it</label>
        <input id="name" name="name" maxlength="100" required dir="auto" value=${draft.name} />
        <label for="role">Role</label>
        <${Select} name="role" chosen=${draft.role} options=${roles.map((role) => [role, ROLES[role]])} />
        <label for="defaultAgent">Agent it speaks for when a call names none</label>
        <input id="defaultAgent" name="defaultAgent" maxlength="63" placeholder="as the server is set" value=${draft.defaultAgent} />
        <h2>Limits</h2>
        <p class="hint">A key with a limit reaches nothing beyond it, whatever a call asks for. Empty: no limit.</p>
        <label for="person">Only for one person</label>
        <div class="together">
          <input id="person" name="person" type="search" maxlength="320" dir="auto" placeholder="name, @username or id" value=${draft.person} />
          <button class="quiet" formmethod="get" formaction="/ui/keys/new" formnovalidate>Find</button>
        </div>
        ${found && html`<${Found} found=${found} hasMore=${hasMore} chosen=${draft.pinUserId} />`}
        <label for="pinStoreId">Only in one store</label>
        <${Select}
          name="pinStoreId"
          chosen=${draft.pinStoreId}
          options=${[["", "any"], ...stores.map(({ id, name }) => [id, name])]}
        />
        <label for="pinAgentId">Only as one agent</label>
        <input id="pinAgentId" name="pinAgentId" maxlength="63" placeholder="any" value=${draft.pinAgentId} />
        <button>Make the key</button>
      </form>
    <//>
  `;
}

interface FoundProps extends Pick<NewKeyProps, "hasMore"> {
  readonly found: readonly PersonCard[];
  readonly chosen: string | undefined;
}

function Found({ found, hasMore, chosen }: FoundProps) {
  if (found.length === 0)
    return html`<p class="notice bad">Nobody is known by that name or id.</p>`;
  return html`
    <fieldset>
      <legend>Who of them?</legend>
      ${found.map(
        (person) => html`
          <label class="choice">
            <input type="radio" name="pinUserId" value=${person.id} checked=${person.id === chosen || found.length === 1} />
            <span><${Text} text=${nameOf(person)} limit=${80} /> <span class="muted"><${Text} text=${otherNames(person)} limit=${120} /></span></span>
          </label>
        `,
      )}
      ${hasMore && html`<p class="hint">There are more: look for more of the name.</p>`}
    </fieldset>
  `;
}
