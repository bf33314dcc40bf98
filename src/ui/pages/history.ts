import { html } from "htm/preact";
import { type FactEvent, SYSTEM } from "../../facts/event.ts";
import { CALL_SOURCE, EDIT_SOURCE } from "../../facts/fact.ts";
import type { FactRecord } from "../../facts/record.ts";
import { Text, Time, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface HistoryProps {
  readonly fact: FactRecord;
  readonly viewer: Viewer;
}

/** Why a fact is believed, and what happened to it. */
export function History({ fact: { statements, events }, viewer }: HistoryProps) {
  return html`
    <section aria-labelledby="why">
      <h2 id="why">Why it is believed</h2>
      <ol class="rows" reversed>
        ${statements.map(
          ({ value, confidence, sourceMessageId, writtenBy, reasoning, observedAt }) => html`
            <li class="row entry">
              <p><${Time} at=${observedAt} />: <${Value} value=${value} limit=${280} /></p>
              ${reasoning && html`<p><${Text} text=${reasoning} /></p>`}
              <p class="muted meta">
                <span><${Source} id=${sourceMessageId} /></span>
                <span>by <${Actor} id=${writtenBy} viewer=${viewer} /></span>
                <span>confidence ${confidence.toFixed(2)}</span>
              </p>
            </li>
          `,
        )}
      </ol>
    </section>
    <section aria-labelledby="events">
      <h2 id="events">What happened to it</h2>
      <ol class="rows">
        ${events.map((event) => html`<${Event} event=${event} viewer=${viewer} />`)}
      </ol>
    </section>
  `;
}

function Event({ event, viewer }: { readonly event: FactEvent; readonly viewer: Viewer }) {
  const { kind, at, actor, reason, oldValue, newValue } = event;
  return html`
    <li class="row entry">
      <p><${Time} at=${at} />: <strong>${kind}</strong> by <${Actor} id=${actor} viewer=${viewer} /></p>
      ${reason !== null && html`<p><${Text} text=${reason} /></p>`}
      ${
        (oldValue !== undefined || newValue !== undefined) &&
        html`<p class="muted">
          ${oldValue !== undefined && html`<span>before: <${Value} value=${oldValue} limit=${120} /></span>`}${" "}
          ${newValue !== undefined && html`<span>now: <${Value} value=${newValue} limit=${120} /></span>`}
        </p>`
      }
    </li>
  `;
}

function Source({ id }: { readonly id: string }) {
  if (id.startsWith(CALL_SOURCE)) return "said by an agent, without a message";
  if (id.startsWith(EDIT_SOURCE)) return "written by a person on this page";
  return html`from message <code><${Text} text=${id} limit=${80} /></code>`;
}

function Actor({ id, viewer }: { readonly id: string; readonly viewer: Viewer }) {
  if (id === SYSTEM) return "the server";
  if (id === viewer.principal.keyId) return "your key";
  return html`<code>${id}</code>`;
}
