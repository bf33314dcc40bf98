import { html } from "htm/preact";
import { isAdmin, isOwner } from "../../access/principal.ts";
import type { ArchivePage } from "../../chat/archived.ts";
import { mayExport } from "../../export/reach.ts";
import type { FactPage } from "../../facts/listing.ts";
import type { EntriesPage } from "../../kv/review.ts";
import type { LinkRecord } from "../../links/link.ts";
import type { PersonDetail } from "../../users/person.ts";
import { address, factAddress, listAddress, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Conversation } from "../parts/conversation.ts";
import { Fields } from "../parts/fields.ts";
import { PageHead } from "../parts/page-head.ts";
import { PersonBadges } from "../parts/people-list.ts";
import { nameOfDetail } from "../places.ts";
import { atLeast, channelName } from "../spoken.ts";
import { Day, Score, Text, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Links } from "./links.ts";
import { StatusForm } from "./status-form.ts";

interface PersonProps {
  readonly viewer: Viewer;
  readonly person: PersonDetail;
  readonly facts: FactPage;
  readonly entries: EntriesPage;
  readonly chat: ArchivePage;
  /** Undefined for who may not see them. */
  readonly links: readonly LinkRecord[] | undefined;
  readonly done: string | undefined;
}

/** One person: who they are, what is remembered of them, what was said last. */
export function PersonPage(props: PersonProps) {
  const { viewer, person, facts, entries, chat, links, done } = props;
  const name = nameOfDetail(person);
  const { holdings } = person;
  const mayDecide = isAdmin(viewer.principal);
  return html`
    <${Layout} title=${name} viewer=${viewer} here="/people">
      <${PageHead}
        title=${html`<${Text} text=${name} limit=${80} />`}
        trail=${[{ href: address("/people"), label: "People" }]}
        lead=${html`Known since <${Day} at=${new Date(person.createdAt)} />. Kept here: ${atLeast(holdings.facts, "fact", "facts")}, ${atLeast(holdings.entries, "entry", "entries")} and ${atLeast(holdings.messages, "message", "messages")}.`}
        done=${done}
      >
        <${PersonBadges} person=${person} />
      <//>
      <${Ways} viewer=${viewer} person=${person} />
      <div class="columns">
        <div>
          <${Facts} person=${person} facts=${facts} />
          <${Entries} person=${person} entries=${entries} />
          <${LastSaid} person=${person} chat=${chat} />
        </div>
        <div>
          <${Who} person=${person} />
          ${
            mayDecide &&
            html`
              <section aria-labelledby="standing">
                <h2 id="standing">Approve or block</h2>
                <${StatusForm} person=${person} from="person" />
              </section>
            `
          }
          ${links && html`<${Links} person=${person} links=${links} />`}
        </div>
      </div>
    <//>
  `;
}

function Ways({ viewer, person: { id } }: Pick<PersonProps, "viewer" | "person">) {
  const ways = [
    [listAddress({ scope: "user", userId: id }), "Facts"],
    [address("/chat", { userId: id }), "Chat"],
    [address("/preview", { userId: id }), "What the agent sees"],
    mayExport(viewer.principal, "user") && [address("/data", { userId: id }), "Export"],
    isOwner(viewer.principal) && [`${address("/data", { userId: id })}#erase`, "Erase"],
  ] as const;
  return html`
    <nav class="together" aria-label="More about this person">
      ${ways.map((way) => way && html`<a class="button quiet small" href=${way[0]}>${way[1]}</a>`)}
    </nav>
  `;
}

function Who({ person }: Pick<PersonProps, "person">) {
  const { identities, role, status, approvedAt, id, username } = person;
  return html`
    <section aria-labelledby="who">
      <h2 id="who">Who they are</h2>
      <ul class="rows">
        ${identities.map(
          ({ channel, externalId, since, unreachableAt }) => html`
            <li class="row entry">
              <p><strong>${channelName(channel)}</strong> <code><${Text} text=${externalId} limit=${80} /></code></p>
              <p class="muted">
                since <${Day} at=${new Date(since)} />${unreachableAt !== null && html`; cannot be written to since <${Day} at=${new Date(unreachableAt)} />: they stopped it`}
              </p>
            </li>
          `,
        )}
      </ul>
      ${identities.length === 0 && html`<p class="empty">No channel knows this person: what they had went to somebody else.</p>`}
      <${Fields}
        fields=${[
          username !== null && ["Username", html`<${Text} text=${`@${username}`} limit=${80} />`],
          ["Role", role],
          ["Status", status],
          approvedAt !== null && ["First approved", html`<${Day} at=${new Date(approvedAt)} />`],
          ["Id", html`<code>${id}</code>`],
        ]}
      />
    </section>
  `;
}

function Facts({ person, facts }: Pick<PersonProps, "person" | "facts">) {
  const place = { scope: "user", userId: person.id } as const;
  return html`
    <section aria-labelledby="facts">
      <h2 id="facts">What is remembered</h2>
      ${
        facts.facts.length === 0
          ? html`<p class="empty">No fact is strong enough to be shown. Facts are learned from what they say.</p>`
          : html`
              <ul class="rows">
                ${facts.facts.map(
                  ({ factId, key, value, score }) => html`
                    <li class="row">
                      <a class="key" href=${factAddress(factId)}>${key}</a>
                      <${Value} value=${value} limit=${160} />
                      <span class="aside"><${Score} value=${score} /></span>
                    </li>
                  `,
                )}
              </ul>
            `
      }
      <p class="summary"><a href=${listAddress(place)}>All facts of this person</a></p>
    </section>
  `;
}

function Entries({ person, entries }: Pick<PersonProps, "person" | "entries">) {
  const href = personAddress(person.id, {}, "/memory");
  return html`
    <section aria-labelledby="entries">
      <h2 id="entries">Entries that agents keep</h2>
      ${
        entries.entries.length === 0
          ? html`<p class="empty">None. Agents note what they need under a key, such as <code>language</code>.</p>`
          : html`
              <ul class="rows">
                ${entries.entries.map(
                  ({ key, value }) => html`
                    <li class="row">
                      <a class="key" href=${personAddress(person.id, { key }, "/memory/entry")}><${Text} text=${key} limit=${80} /></a>
                      <${Value} value=${value} limit=${160} />
                    </li>
                  `,
                )}
              </ul>
            `
      }
      <p class="summary"><a href=${href}>All entries, add one</a></p>
    </section>
  `;
}

function LastSaid({ person, chat }: Pick<PersonProps, "person" | "chat">) {
  return html`
    <section aria-labelledby="chat">
      <h2 id="chat">Last said</h2>
      ${chat.messages.length === 0 ? html`<p class="empty">Nothing was said yet.</p>` : html`<${Conversation} messages=${chat.messages} dated />`}
      <p class="summary"><a href=${address("/chat", { userId: person.id })}>The whole chat</a></p>
    </section>
  `;
}
