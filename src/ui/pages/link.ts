import { html } from "htm/preact";
import type { PeoplePage } from "../../users/people.ts";
import type { PersonDetail } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { PeopleFilter, PeopleRows } from "../parts/people-list.ts";
import { nameOfDetail } from "../places.ts";
import { atLeast, channelName } from "../spoken.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface LinkProps {
  readonly viewer: Viewer;
  readonly person: PersonDetail;
}

interface ChooseProps extends LinkProps {
  readonly found: PeoplePage;
  readonly search: string | undefined;
}

/** Who is the same as this person. */
export function ChooseLinkPage({ viewer, person, found, search }: ChooseProps) {
  const others = found.people.filter(({ id }) => id !== person.id);
  const hrefOf = (other: string) => personAddress(person.id, { with: other }, "/link");
  return html`
    <${Layout} title="Link another person" viewer=${viewer} here="/people">
      <${LinkHead}
        person=${person}
        title=${html`Who is the same as <${Text} text=${nameOfDetail(person)} limit=${80} />?`}
        lead="Choose somebody. On the next page you see what will move before anything happens. Names and numbers that look alike prove nothing: link only whom you know to be one."
      />
      <${PeopleFilter} action=${personAddress(person.id, {}, "/link")} search=${search} />
      <${PeopleRows} people=${others} isNarrow=${search !== undefined} hrefOf=${hrefOf} />
    <//>
  `;
}

interface ConfirmProps extends LinkProps {
  readonly other: PersonDetail;
}

/** What will move when two are made one. */
export function ConfirmLinkPage({ viewer, person, other }: ConfirmProps) {
  const name = html`<${Text} text=${nameOfDetail(person)} limit=${80} />`;
  const from = html`<${Text} text=${nameOfDetail(other)} limit=${80} />`;
  const { holdings, identities } = other;
  return html`
    <${Layout} title="Link two people" viewer=${viewer} here="/people">
      <${LinkHead} person=${person} title=${html`Make ${from} and ${name} one person?`} />
      <form class="stack" method="post" action=${personAddress(person.id, {}, "/link")}>
        <p>This moves to ${name}:</p>
        <ul class="rows">
          ${identities.map(({ channel, externalId }) => html`<li class="row">${channelName(channel)} <code><${Text} text=${externalId} limit=${80} /></code></li>`)}
          <li class="row">${atLeast(holdings.messages, "message", "messages")}</li>
          <li class="row">${atLeast(holdings.facts, "fact", "facts")}</li>
          <li class="row">${atLeast(holdings.entries, "entry", "entries")}, of two under one key the later counts</li>
        </ul>
        <p>
          ${name} keeps role and status; both are approved where one of them was. The journal keeps which came from whom, so
          that you can part them again.
        </p>
        <input type="hidden" name="with" value=${other.id} />
        <label for="reason">Why are they one person?</label>
        <input id="reason" name="reason" maxlength="240" required dir="auto" />
        <div class="together">
          <button>Make them one person</button>
          <a href=${personAddress(person.id, {}, "/link")}>Choose somebody else</a>
        </div>
      </form>
    <//>
  `;
}

interface CodeProps extends LinkProps {
  readonly code: string;
  readonly expiresAt: string;
}

/** A one-time code: it is on this page and nowhere else. */
export function CodePage({ viewer, person, code, expiresAt }: CodeProps) {
  return html`
    <${Layout} title="Link code" viewer=${viewer} here="/people">
      <${LinkHead}
        person=${person}
        title="A link code"
        lead="Give it to this person. They send it, and nothing else, to the agent from their other channel; from then on both are one."
      />
      <p class="code">${code}</p>
      <p>Good once, until <${Time} at=${new Date(expiresAt)} />. It is shown here only: copy it before you leave this page.</p>
      <p><a class="button quiet" href=${personAddress(person.id)}>Done</a></p>
    <//>
  `;
}

interface LinkHeadProps extends Pick<LinkProps, "person"> {
  readonly title: unknown;
  readonly lead?: string;
}

function LinkHead({ person, title, lead }: LinkHeadProps) {
  return html`
    <${PageHead}
      title=${title}
      trail=${[
        { href: address("/people"), label: "People" },
        {
          href: personAddress(person.id),
          label: html`<${Text} text=${nameOfDetail(person)} limit=${80} />`,
        },
      ]}
      lead=${lead}
    />
  `;
}
