import { html } from "htm/preact";
import type { RecalledFact } from "../../recall/answer.ts";
import type { Inspection } from "../../recall/assembly.ts";
import { type Why, whyOf } from "../../recall/why.ts";
import { factAddress, messageAddress } from "../address.ts";
import { Bar } from "../parts/bars.ts";
import { channelName } from "../spoken.ts";
import { Text, Time, Value } from "../text.ts";

/** Of a value or message in a list. */
const SHOWN_CHARACTERS = 280;
/** A match beyond it is rare, and its bar is full. */
const FULL_MATCH = 1.5;

interface HitsProps {
  readonly inspection: Inspection;
}

interface FactHitsProps extends HitsProps {
  readonly isSearched: boolean;
}

/** The facts that were considered, best first. */
export function FactHits({ inspection, isSearched }: FactHitsProps) {
  const { facts, messages } = inspection.answer;
  const shown = new Set([...facts.map(({ factId }) => factId), ...messages.map(({ id }) => id)]);
  const always = inspection.block.tiers.flatMap(({ name, lines }) =>
    lines.filter(({ id }) => !shown.has(id)).map((line) => ({ ...line, tier: name })),
  );
  const more = Math.max(0, inspection.hits.facts.length - facts.length);
  return html`
    <section aria-labelledby="facts">
      <h2 id="facts">Facts that were considered</h2>
      ${
        facts.length === 0
          ? html`<p class="empty">${isSearched ? "No fact answers these words." : "No fact is remembered here."}</p>`
          : html`<ol class="rows">${facts.map((fact) => html`<${FactHit} fact=${fact} why=${whyOf(inspection, fact.factId)} isSearched=${isSearched} />`)}</ol>`
      }
      ${more > 0 && html`<p class="hint">${more} more were found and answer less well.</p>`}
      <${Legend} isSearched=${isSearched} />
      ${
        always.length > 0 &&
        html`
          <h3>In the block whatever is asked</h3>
          <ul class="rows">
            ${always.map(
              ({ id, text, tier }) => html`
                <li class="row">
                  <a href=${factAddress(id)}><code><${Text} text=${text.replace(/^- /, "")} limit=${SHOWN_CHARACTERS} /></code></a>
                  <${WhyBadge} why=${{ tier }} />
                </li>
              `,
            )}
          </ul>
        `
      }
    </section>
  `;
}

interface FactHitProps {
  readonly fact: RecalledFact;
  readonly why: Why;
  readonly isSearched: boolean;
}

function FactHit({ fact, why, isSearched }: FactHitProps) {
  const { factId, scope, key, value, contested, archived, match, words, cosine, rank, score } =
    fact;
  return html`
    <li class="row entry hit">
      <div class="fact-head">
        <a class="key" href=${factAddress(factId)}>${key}</a>
        <span class="badge">${scope}</span>
        ${contested && html`<span class="badge bad">contested</span>`}
        ${archived && html`<span class="badge">put away</span>`}
        <${WhyBadge} why=${why} />
      </div>
      <p dir="auto"><${Value} value=${value} limit=${SHOWN_CHARACTERS} /></p>
      <dl class="anatomy">
        ${isSearched && html`<${Bar} label="Match" value=${match} max=${FULL_MATCH} />`}
        ${isSearched && html`<${Bar} label="Words" value=${words} />`}
        ${isSearched && html`<${Bar} label="Meaning" value=${cosine} />`}
        <${Bar} label="Rank" value=${rank} />
        <${Bar} label="Score now" value=${score} />
      </dl>
    </li>
  `;
}

/** The messages that were found, best first. */
export function MessageHits({ inspection }: HitsProps) {
  const { messages } = inspection.answer;
  const more = Math.max(0, inspection.hits.messages.length - messages.length);
  return html`
    <section aria-labelledby="messages">
      <h2 id="messages">Messages that were considered</h2>
      ${
        messages.length === 0
          ? html`<p class="empty">No message of a person answers these words.</p>`
          : html`
              <ol class="rows">
                ${messages.map(
                  ({ id, speaker, channel, text, sentAt, match, words, cosine }) => html`
                    <li class="row entry hit">
                      <div class="fact-head">
                        <a href=${messageAddress(id)}><${Time} at=${new Date(sentAt)} /></a>
                        <span class="muted">${speaker} in ${channelName(channel)}</span>
                        <${WhyBadge} why=${whyOf(inspection, id)} />
                      </div>
                      <p dir="auto"><${Text} text=${text} limit=${SHOWN_CHARACTERS} /></p>
                      <dl class="anatomy">
                        <${Bar} label="Match" value=${match} max=${FULL_MATCH} />
                        <${Bar} label="Words" value=${words} />
                        <${Bar} label="Meaning" value=${cosine} />
                      </dl>
                    </li>
                  `,
                )}
              </ol>
            `
      }
      ${more > 0 && html`<p class="hint">${more} more were found and answer less well.</p>`}
    </section>
  `;
}

function WhyBadge({ why }: { readonly why: Why }) {
  if ("tier" in why) return html`<span class="badge good">in the block: ${why.tier}</span>`;
  return html`<span class="badge">not in the block: ${OUT[why.reason](why)}</span>`;
}

const OUT: Readonly<Record<Exclude<Why, { tier: unknown }>["reason"], (why: Why) => string>> = {
  "too long": (why) =>
    "room" in why ? `takes ${why.tokens} tokens, ${why.room} were left` : "too long",
  "older value": () => "the current value of its key did not fit",
  "no room": () => "others used up the room",
};

function Legend({ isSearched }: { readonly isSearched: boolean }) {
  return html`
    <details>
      <summary>What the numbers mean</summary>
      <dl class="details">
        ${
          isSearched &&
          html`
            <div><dt>Match</dt><dd>How well its key answers the words: everything together. It decides the order.</dd></div>
            <div><dt>Words</dt><dd>The share of the words that it has itself; rare words weigh more.</dd></div>
            <div><dt>Meaning</dt><dd>How near it is in meaning (the cosine of the two vectors).</dd></div>
          `
        }
        <div><dt>Rank</dt><dd>Decides among equal matches: the score when something last changed here, halved where it is contested.</dd></div>
        <div><dt>Score now</dt><dd>How sure it was, less the longer nobody confirms it.</dd></div>
      </dl>
    </details>
  `;
}
