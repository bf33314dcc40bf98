import { html } from "htm/preact";
import type { ArchivedEntry } from "../../chat/archived.ts";
import { messageAddress } from "../address.ts";
import { channelName, kindName, speakerName } from "../spoken.ts";
import { Clock, Day, Text, Time } from "../text.ts";

/** Of one message in a list. */
const SHOWN_CHARACTERS = 1_500;

interface ConversationProps {
  readonly messages: readonly ArchivedEntry[];
  /** The id of the message that is looked at, which is shown whole. */
  readonly asked?: string;
  /** Each names its day, because they do not stand in the order of time. */
  readonly dated?: boolean;
}

/** Messages in the order in which they are given, day by day unless each names its own. */
export function Conversation({ messages, asked, dated = false }: ConversationProps) {
  if (dated) {
    return html`<ol class="chat">${messages.map((message) => html`<${Message} message=${message} dated />`)}</ol>`;
  }
  const days = Map.groupBy(messages, ({ sentAt }) => sentAt.slice(0, 10));
  return html`
    ${[...days].map(
      ([day, said]) => html`
        <h2 class="day"><${Day} at=${new Date(day)} /></h2>
        <ol class="chat">
          ${said.map((message) => html`<${Message} message=${message} isAsked=${message.id === asked} />`)}
        </ol>
      `,
    )}
  `;
}

interface MessageProps {
  readonly message: ArchivedEntry;
  readonly isAsked?: boolean;
  readonly dated?: boolean;
}

function Message({ message, isAsked = false, dated = false }: MessageProps) {
  const { id, direction, channel, sentAt, optedOut } = message;
  const classes = [
    "message",
    direction === "outbound" && "ours",
    optedOut && "out",
    isAsked && "asked",
  ];
  const at = new Date(sentAt);
  const when = dated ? html`<${Time} at=${at} />` : html`<${Clock} at=${at} />`;
  return html`
    <li class=${classes.filter(Boolean).join(" ")} aria-current=${isAsked ? "true" : undefined}>
      <div class="message-head">
        <span class="speaker"><${Text} text=${speakerName(message)} limit=${80} /></span>
        <span>${channelName(channel)}</span>
        ${isAsked ? when : html`<a href=${messageAddress(id)}>${when}<span class="hidden">: this message with what was said around it</span></a>`}
      </div>
      <${Words} message=${message} isWhole=${isAsked} />
      <${Marks} message=${message} />
      <${Earlier} message=${message} />
    </li>
  `;
}

function Words({
  message,
  isWhole,
}: {
  readonly message: ArchivedEntry;
  readonly isWhole: boolean;
}) {
  const { id, text, kind, isClipped } = message;
  if (text === null || text === "") {
    return html`<p class="wordless">${kindName(kind) ?? "Empty message"}, without words</p>`;
  }
  const isLong = !isWhole && (isClipped || text.length > SHOWN_CHARACTERS);
  return html`
    <p dir="auto"><${Text} text=${text} limit=${isWhole ? undefined : SHOWN_CHARACTERS} /></p>
    ${isLong && html`<p><a href=${messageAddress(id)}>Read all of it</a></p>`}
  `;
}

function Marks({ message }: { readonly message: ArchivedEntry }) {
  const { kind, forwarded, optedOut, delivery, text } = message;
  const marks = [
    text && kindName(kind),
    forwarded && "Forwarded: somebody else's words",
    optedOut && "Kept out of memory",
    delivery === "sending" && "Being sent",
  ].filter(Boolean);
  if (marks.length === 0 && delivery !== "failed") return null;
  return html`
    <p class="marks">
      ${marks.map((mark) => html`<span class="badge">${mark}</span>`)}
      ${delivery === "failed" && html`<span class="badge bad">Not delivered</span>`}
    </p>
  `;
}

function Earlier({ message: { revisions, editedAt } }: { readonly message: ArchivedEntry }) {
  if (editedAt === null) return null;
  const when = html`Edited on <${Time} at=${new Date(editedAt)} />`;
  if (revisions.length === 0) return html`<p class="muted">${when}</p>`;
  return html`
    <details>
      <summary>${when}</summary>
      <p>${revisions.length === 1 ? "It said before:" : "It said before, the oldest first:"}</p>
      <ol class="earlier">
        ${revisions.map(({ text }) => html`<li dir="auto">${text === null ? html`<span class="wordless">no words</span>` : html`<${Text} text=${text} />`}</li>`)}
      </ol>
    </details>
  `;
}
