import { html } from "htm/preact";
import { type FactEvent, SYSTEM } from "../../facts/event.ts";
import { Text, Time, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";

interface HistoryProps {
  readonly events: readonly FactEvent[];
  readonly viewer: Viewer;
}

/** Who changed a fact, and why. */
export function History({ events, viewer }: HistoryProps) {
  return html`
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

/** Who did something: a key by its id, and what has no key in words. */
export function Actor({ id, viewer }: { readonly id: string; readonly viewer: Viewer }) {
  if (id === SYSTEM) return "the server";
  if (id === "extraction") return "the reader of chats";
  if (id === viewer.principal.keyId) return "your key";
  return html`key <code>${id}</code>`;
}
