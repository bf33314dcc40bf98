import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import type { DeliveryRecord } from "../../channels/deliveries.ts";
import type { TurnRecord } from "../../turns/service.ts";
import type { PersonCard } from "../../users/person.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Pager } from "../parts/pager.ts";
import { nameOf } from "../places.ts";
import { Text, Time } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface DeadLettersProps {
  readonly viewer: Viewer;
  readonly turns: { readonly turns: readonly TurnRecord[]; readonly nextBefore: string | null };
  readonly deliveries: {
    readonly deliveries: readonly DeliveryRecord[];
    readonly nextBefore: string | null;
  };
  readonly people: ReadonlyMap<string, PersonCard>;
  /** Where the pages begin that are shown. */
  readonly before: { readonly turns: string | undefined; readonly deliveries: string | undefined };
  readonly done: string | undefined;
}

/** What was given up after every attempt, until a person tries it again. */
export function DeadLettersPage(props: DeadLettersProps) {
  const { viewer, turns, deliveries, people, before, done } = props;
  return html`
    <${Layout} title="Dead letters" viewer=${viewer} here="/dead-letters">
      <${PageHead}
        title="Dead letters"
        lead="What was tried for hours and then given up. Nothing is lost: once the cause is gone, let it be tried again."
        done=${done}
      />
      <${Section}
        id="turns"
        title="Turns that nothing was learned from"
        empty="Every turn was read, or waits its turn."
        all="Try all turns again"
        isEmpty=${turns.turns.length === 0}
        next=${turns.nextBefore}
        before=${before}
      >
        ${turns.turns.map(
          ({ id, userId, channel, openedAt, reason }) => html`
            <${Letter} action=${`/dead-letters/turns/${id}`} userId=${userId} people=${people}>
              <span class="muted">${channel}</span>
              <span class="muted">said <${Time} at=${openedAt} /></span>
              <code><${Text} text=${reason ?? "no reason kept"} limit=${200} /></code>
            <//>
          `,
        )}
      <//>
      <${Section}
        id="deliveries"
        title="Messages that the runtime did not take"
        empty="Every message was handed on, or is being tried."
        all="Try all messages again"
        isEmpty=${deliveries.deliveries.length === 0}
        next=${deliveries.nextBefore}
        before=${before}
      >
        ${deliveries.deliveries.map(
          ({ id, userId, channel, event, createdAt, attempts, lastError }) => html`
            <${Letter} action=${`/dead-letters/deliveries/${id}`} userId=${userId} people=${people}>
              <span class="muted">${channel}, ${EVENTS[event]}</span>
              <span class="muted"><${Time} at=${createdAt} /></span>
              <span class="muted">tried ${attempts} times</span>
              <code><${Text} text=${lastError ?? "no reason kept"} limit=${200} /></code>
            <//>
          `,
        )}
      <//>
    <//>
  `;
}

const EVENTS: Readonly<Record<DeliveryRecord["event"], string>> = {
  "message.received": "a message",
  "message.edited": "an edit",
  "message.deleted": "a deletion",
  "identity.linked": "a link",
};

interface SectionProps {
  /** Also what its pages are called in the address. */
  readonly id: "turns" | "deliveries";
  readonly title: string;
  readonly empty: string;
  readonly all: string;
  readonly isEmpty: boolean;
  readonly next: string | null;
  readonly before: DeadLettersProps["before"];
  readonly children?: ComponentChildren;
}

function Section({ id, title, empty, all, isEmpty, next, before, children }: SectionProps) {
  return html`
    <section aria-labelledby=${id}>
      <h2 id=${id}>${title}</h2>
      ${
        isEmpty
          ? html`<p class="empty">${empty}</p>`
          : html`
            <form class="above" method="post" action=${address(`/dead-letters/${id}`)}>
              <button class="quiet small">${all}</button>
            </form>
            <ul class="rows">${children}</ul>
          `
      }
      <${Pager}
        label=${`Pages: ${title}`}
        back=${before[id] !== undefined && { href: address("/dead-letters", { ...before, [id]: undefined }), label: "Newest" }}
        on=${next !== null && { href: address("/dead-letters", { ...before, [id]: next }), label: "Earlier" }}
      />
    </section>
  `;
}

interface LetterProps {
  readonly action: string;
  readonly userId: string;
  readonly people: DeadLettersProps["people"];
  readonly children?: ComponentChildren;
}

function Letter({ action, userId, people, children }: LetterProps) {
  const person = people.get(userId);
  const name = person ? nameOf(person) : userId;
  return html`
    <li class="row">
      <a class="row-name" href=${personAddress(userId)}><${Text} text=${name} limit=${80} /></a>
      ${children}
      <form class="aside" method="post" action=${address(action)}>
        <button class="quiet small">Try again<span class="hidden"> for <${Text} text=${name} limit=${80} /></span></button>
      </form>
    </li>
  `;
}
