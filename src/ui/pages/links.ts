import { html } from "htm/preact";
import type { LinkRecord } from "../../links/link.ts";
import type { PersonDetail } from "../../users/person.ts";
import { personAddress } from "../address.ts";
import { Day, Text } from "../text.ts";

const PROOFS: Readonly<Record<LinkRecord["proof"], string>> = {
  code: "by a one-time code",
  assertion: "by the host app's word",
  admin: "by hand",
  platform: "by the platform's word",
};

interface LinksProps {
  readonly person: PersonDetail;
  readonly links: readonly LinkRecord[];
}

/** With whom a person turned out to be one, and how to part them again. */
export function Links({ person, links }: LinksProps) {
  return html`
    <section aria-labelledby="links">
      <h2 id="links">One person on several channels</h2>
      ${
        links.length === 0
          ? html`<p class="empty">Nobody was linked with this person.</p>`
          : html`<ul class="rows">${links.map((link) => html`<${LinkRow} person=${person} link=${link} />`)}</ul>`
      }
      <div class="together summary">
        <a class="button quiet small" href=${personAddress(person.id, {}, "/link")}>Link another person</a>
        <form method="post" action=${personAddress(person.id, {}, "/code")}>
          <button class="quiet small">Make a link code</button>
        </form>
      </div>
      <p class="hint">A code lets them prove it themselves: they send it from their other channel.</p>
    </section>
  `;
}

interface LinkRowProps {
  readonly person: PersonDetail;
  readonly link: LinkRecord;
}

function LinkRow({ person, link }: LinkRowProps) {
  const { id, fromUserId, toUserId, proof, reason, at, undoneAt } = link;
  const other = fromUserId === person.id ? toUserId : fromUserId;
  const said = fromUserId === person.id ? "Linked into" : "Linked from";
  return html`
    <li class="row entry">
      <p>${said} <code>${other}</code> on <${Day} at=${new Date(at)} />, ${PROOFS[proof]}</p>
      ${reason !== null && html`<p class="muted"><${Text} text=${reason} limit=${240} /></p>`}
      ${
        undoneAt !== null
          ? html`<p class="muted">Undone on <${Day} at=${new Date(undoneAt)} /></p>`
          : html`
              <details>
                <summary>Undo</summary>
                <form class="stack" method="post" action=${personAddress(person.id, {}, `/links/${id}/undo`)}>
                  <p>Parts them again: the identities go back, with all that came by them before and since. What was written meanwhile by no identity in particular stays.</p>
                  <label for=${`undo-${id}`}>Why (optional)</label>
                  <input id=${`undo-${id}`} name="reason" maxlength="240" dir="auto" />
                  <button class="danger">Part them</button>
                </form>
              </details>
            `
      }
    </li>
  `;
}
