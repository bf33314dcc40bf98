import { html } from "htm/preact";
import type { Sourced } from "../../facts/sources.ts";
import { messageAddress } from "../address.ts";
import { channelName, kindName } from "../spoken.ts";
import { Day, Text } from "../text.ts";

const WORDS = 600;

interface SaidProps {
  readonly statement: Sourced;
}

/** One statement with the message that it comes from, in the words of that message. */
export function Said({ statement: { source, reasoning, isCorrection, observedAt } }: SaidProps) {
  return html`
    ${
      source.kind === "message" &&
      source.text !== null &&
      html`<blockquote dir="auto"><${Text} text=${source.text} limit=${WORDS} /></blockquote>`
    }
    <p class="muted"><${Origin} source=${source} at=${observedAt} />${isCorrection && " It corrected the assistant."}</p>
    ${reasoning && html`<p class="muted">Noted with it: <${Text} text=${reasoning} /></p>`}
  `;
}

/** Where a statement comes from, as a sentence. */
function Origin({ source, at }: { readonly source: Sourced["source"]; readonly at: Date }) {
  switch (source.kind) {
    case "call":
      return html`Noted by an agent on <${Day} at=${at} />, without a message.`;
    case "edit":
      return html`Written by a person on this page on <${Day} at=${at} />.`;
    case "named":
      return html`Noted on <${Day} at=${at} /> with the source <code><${Text} text=${source.name} limit=${80} /></code>.`;
    case "gone":
      return html`Said on <${Day} at=${at} />, in a message that is not in the archive any more.`;
    case "hidden":
      return html`Said by somebody else on <${Day} at=${at} />.`;
    case "message":
      return html`<${FromMessage} source=${source} />`;
  }
}

function FromMessage({
  source,
}: {
  readonly source: Extract<Sourced["source"], { kind: "message" }>;
}) {
  const { direction, personName, channel, sentAt, messageId, optedOut, edited, messageKind } =
    source;
  const who = direction === "outbound" ? "the assistant" : (personName ?? "the person");
  const kind = kindName(messageKind);
  return html`
    Said by <${Text} text=${who} limit=${80} /> on <${Day} at=${sentAt} /> in ${channelName(channel)}${kind && `, with a ${kind.toLowerCase()}`}.${" "}
    ${optedOut && "The person asked to keep this message out of memory."}${" "}
    ${edited && "The message was edited since: these are its words at the time."}${" "}
    <a href=${messageAddress(messageId)}>Show it in the chat<span class="hidden">, of <${Day} at=${sentAt} /></span></a>
  `;
}
