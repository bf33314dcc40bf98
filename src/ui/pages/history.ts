import { html } from "htm/preact";
import type { FactEvent } from "../../facts/event.ts";
import { Text, Time, Value } from "../text.ts";
import type { Viewer } from "../viewer.ts";
import { Actor, type KeyNames } from "./actor.ts";

interface HistoryProps {
  readonly events: readonly FactEvent[];
  readonly viewer: Viewer;
  readonly names: KeyNames;
}

/** Who changed a fact, and why. */
export function History({ events, viewer, names }: HistoryProps) {
  return html`
    <section aria-labelledby="events">
      <h2 id="events">What happened to it</h2>
      <ol class="rows">
        ${events.map((event) => html`<${Event} event=${event} viewer=${viewer} names=${names} />`)}
      </ol>
    </section>
  `;
}

interface EventProps extends Omit<HistoryProps, "events"> {
  readonly event: FactEvent;
}

function Event({ event, viewer, names }: EventProps) {
  const { kind, at, actor, reason, oldValue, newValue } = event;
  return html`
    <li class="row entry">
      <p><${Time} at=${at} />: <strong>${kind}</strong> by <${Actor} actor=${actor} names=${names} viewer=${viewer} /></p>
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
