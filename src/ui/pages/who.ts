import { html } from "htm/preact";
import { isAdmin } from "../../access/principal.ts";
import type { PeoplePage, PeopleQuery } from "../../users/people.ts";
import { address } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { PeopleFilter, PeopleRows } from "../parts/people-list.ts";
import type { Viewer } from "../viewer.ts";

interface WhoProps {
  readonly viewer: Viewer;
  readonly found: PeoplePage;
  readonly query: PeopleQuery;
}

/** Whose chat to read. */
export function WhoPage({ viewer, found, query: { search, before } }: WhoProps) {
  const at = (before?: string | null) => address("/chat", { search, before });
  return html`
    <${Layout} title="Chat" viewer=${viewer} here="/chat">
      <${PageHead} title="Whose chat" lead="Every message of every channel is kept, word for word. Choose a person." />
      ${isAdmin(viewer.principal) && html`<p class="summary"><a href=${address("/chat", { nobody: true })}>Messages of nobody: channel posts, and what could not be read</a></p>`}
      <${PeopleFilter} action="/ui/chat" search=${search} />
      <${PeopleRows} people=${found.people} isNarrow=${search !== undefined} hrefOf=${(userId: string) => address("/chat", { userId })} />
      <${Pager}
        label="Pages of people"
        back=${before !== undefined && { href: at(), label: "Newest people" }}
        on=${found.nextBefore !== null && { href: at(found.nextBefore), label: "Earlier people" }}
      />
    <//>
  `;
}
