import { html } from "htm/preact";
import type { ArchiveMatches, ArchivePage } from "../../chat/archived.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { Conversation } from "../parts/conversation.ts";
import { Field, FilterForm } from "../parts/filter-form.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { nameOf } from "../places.ts";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface ChatProps {
  readonly viewer: Viewer;
  readonly person: PersonCard;
  readonly day: string | undefined;
  readonly page: ArchivePage;
  /** Whether this is not the newest page. */
  readonly isLater: boolean;
  readonly done: string | undefined;
}

/** What was said with one person, newest first. */
export function ChatPage({ viewer, person, day, page, isLater, done }: ChatProps) {
  const at = (before?: string | null) => address("/chat", { userId: person.id, day, before });
  return html`
    <${Layout} title=${`Chat with ${nameOf(person)}`} viewer=${viewer} here="/chat">
      <${Head} person=${person} done=${done} lead="Newest first, both sides, on every channel. Times are UTC." />
      <${Filter} person=${person} day=${day} />
      <div id="list">
      ${
        page.messages.length === 0
          ? html`<p class="empty">${day === undefined ? "Nothing was said yet. Messages stand here as soon as a channel delivers them." : "Nothing was said on this day."}</p>`
          : html`<${Conversation} messages=${page.messages} />`
      }
      <${Pager}
        label="Pages of messages"
        back=${isLater && { href: at(), label: "Newest messages" }}
        on=${page.nextBefore !== null && { href: at(page.nextBefore), label: "Earlier messages" }}
      />
      </div>
    <//>
  `;
}

interface FoundProps {
  readonly viewer: Viewer;
  readonly person: PersonCard;
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
  readonly found: ArchiveMatches;
}

/** The messages of one person that have some of these words. */
export function FoundPage({ viewer, person, search, offset, limit, found }: FoundProps) {
  const at = (offset: number | null) => address("/chat", { userId: person.id, search, offset });
  return html`
    <${Layout} title=${`Chat with ${nameOf(person)}`} viewer=${viewer} here="/chat">
      <${Head}
        person=${person}
        lead="What answers these words best comes first. Messages that were kept out of memory with #noremember are not searched."
      />
      <${Filter} person=${person} search=${search} />
      <div id="list">
      <p class="summary"><a href=${address("/chat", { userId: person.id })}>Show all messages</a></p>
      ${
        found.messages.length === 0
          ? html`<p class="empty">No message has these words. Words that are in almost every sentence are not searched.</p>`
          : html`<${Conversation} messages=${found.messages} dated />`
      }
      <${Pager}
        label="Pages of messages"
        back=${offset > 0 && { href: at(Math.max(0, offset - limit)), label: "Better matches" }}
        on=${found.nextOffset !== null && { href: at(found.nextOffset), label: "Weaker matches" }}
      />
      </div>
    <//>
  `;
}

interface NobodyProps {
  readonly viewer: Viewer;
  readonly page: ArchivePage;
  readonly isLater: boolean;
  readonly done: string | undefined;
}

/** What no person said. */
export function NobodyPage({ viewer, page, isLater, done }: NobodyProps) {
  const at = (before?: string | null) => address("/chat", { nobody: true, before });
  return html`
    <${Layout} title="Messages of nobody" viewer=${viewer} here="/chat">
      <${PageHead}
        title="Messages of nobody"
        trail=${[{ href: address("/chat"), label: "Chat" }]}
        lead="Posts of channels, what was said to a whole group, and updates that no reader understood, which are kept as they came."
        done=${done}
      />
      ${
        page.messages.length === 0
          ? html`<p class="empty">There are none. A channel's post or an update that cannot be read would stand here.</p>`
          : html`<${Conversation} messages=${page.messages} />`
      }
      <${Pager}
        label="Pages of messages"
        back=${isLater && { href: at(), label: "Newest messages" }}
        on=${page.nextBefore !== null && { href: at(page.nextBefore), label: "Earlier messages" }}
      />
    <//>
  `;
}

interface HeadProps {
  readonly person: PersonCard;
  readonly lead: string;
  readonly done?: string | undefined;
}

function Head({ person, lead, done }: HeadProps) {
  return html`
    <${PageHead}
      title=${html`Chat with <${Text} text=${nameOf(person)} limit=${80} />`}
      trail=${[
        { href: address("/people"), label: "People" },
        {
          href: personAddress(person.id),
          label: html`<${Text} text=${nameOf(person)} limit=${80} />`,
        },
      ]}
      lead=${lead}
      done=${done}
    />
  `;
}

interface FilterProps {
  readonly person: PersonCard;
  readonly search?: string;
  readonly day?: string | undefined;
}

function Filter({ person, search, day }: FilterProps) {
  return html`
    <${FilterForm} action="/ui/chat" live="#list" keep=${{ userId: person.id }} button="Show">
      <${Field} name="search" label="Words" wide>
        <input id="search" name="search" type="search" maxlength="400" value=${search ?? ""} dir="auto" />
      <//>
      <${Field} name="day" label="Or a day">
        <input id="day" name="day" type="date" value=${day ?? ""} />
      <//>
    <//>
  `;
}
