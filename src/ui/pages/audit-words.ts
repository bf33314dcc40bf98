import { html } from "htm/preact";
import type { ComponentChildren } from "preact";
import type { AuditRecord } from "../../audit/service.ts";
import { address, factAddress, personAddress } from "../address.ts";
import { Text } from "../text.ts";
import type { KeyNames } from "./actor.ts";
import { purposeOf } from "./job-words.ts";

/** What was done, as the words between who did it and to what. An action that is not here is told by its name. */
export const DEEDS: Readonly<Record<string, string>> = {
  "user.approved": "approved",
  "user.pending": "set back to pending",
  "user.blocked": "blocked",
  "user.linked": "linked somebody into",
  "user.unlinked": "parted somebody from",
  "user.code_issued": "issued a link code for",
  "user.entry_set": "changed an entry of",
  "user.entry_deleted": "deleted an entry of",
  "user.exported": "exported everything of",
  "store.exported": "exported everything of",
  "org.exported": "exported everything of",
  "user.erasing": "erased a person:",
  "store.erasing": "erased a store:",
  "org.erasing": "erased the org:",
  "conversation.erasing": "erased a conversation:",
  "fact.erasing": "erased a fact:",
  "message.erasing": "erased a message:",
  "reset.erasing": "reset what was remembered:",
  "message.deleted": "deleted",
  "duplicate.dismissed": "kept apart from its look-alike",
  "key.created": "made",
  "key.revoked": "revoked",
  "org.created": "made",
  "org.memory_changed": "changed how memory is used in",
  "store.created": "made",
  "channel.added": "added",
  "channel.removed": "removed",
  "rules.saved": "saved",
  "turn.retried": "let the server read again",
  "turn.retried_all": "let the server read all dead turns again of",
  "turn.dismissed": "laid aside a correction in",
  "delivery.replayed": "let the server hand on again",
  "delivery.replayed_all": "let the server hand on all dead letters again of",
  "job.started": "started",
  "job.replayed": "let the server try again",
  "import.messages": "imported messages into",
  "import.facts": "imported",
};

/** An action as a filter names it. */
export function nameOfAction(action: string): string {
  return action.replace(".", ": ").replaceAll("_", " ");
}

/** What else is kept of an event, as names and values; of what changed, both values. */
export function detailsOf({ details = {} }: Pick<AuditRecord, "details">): string {
  const { before, after, ...others } = details;
  const changed =
    isRecord(before) && isRecord(after)
      ? Object.keys(after)
          .filter((name) => after[name] !== before[name])
          .map((name) => `${wordsOf(name)}: ${told(before[name])} → ${told(after[name])}`)
      : before === undefined
        ? []
        : [`before: ${told(before)}`];
  const rest = Object.entries(others)
    .flatMap(([name, value]) =>
      isRecord(value) ? Object.entries(value) : [[name, value] as const],
    )
    .filter(([name, value]) => value !== null && !IN_THE_SENTENCE.includes(name))
    .map(([name, value]) => `${wordsOf(name)}: ${told(value)}`);
  return [...changed, ...rest].join(", ");
}

/** The subject says so already. */
const IN_THE_SENTENCE: readonly string[] = ["version", "kind"];

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const wordsOf = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const told = (value: unknown) =>
  value === null ? "not set" : typeof value === "string" ? value : JSON.stringify(value);

interface SubjectProps {
  readonly event: AuditRecord;
  readonly names: KeyNames;
}

/** What something was done to, with a way there where it has a page. */
export function Subject({ event, names }: SubjectProps): ComponentChildren {
  const { subjectKind, subjectId, details } = event;
  switch (subjectKind) {
    case "user":
      return html`<a href=${personAddress(subjectId)}>a person</a>`;
    case "key":
      return html`the key “<${Text} text=${names.get(subjectId) ?? subjectId} limit=${60} />”`;
    case "org":
      return "the org";
    case "store":
      return html`<a href=${address("/facts", { scope: "store", storeId: subjectId })}>a store</a>`;
    case "rules":
      return html`<a href=${address(`/rules/versions/${subjectId}`)}>version ${String(details?.version ?? "")} of ${details?.storeId ? "a store’s" : "the org’s"} rules</a>`;
    case "job": {
      const kind = typeof details?.kind === "string" ? details.kind : subjectId;
      return html`a job: <${Text} text=${purposeOf(kind) ?? kind} limit=${100} />`;
    }
    case "message":
      return "a message";
    case "turn":
      return "a turn";
    case "delivery":
      return "a message";
    case "link":
      return "a link";
    case "channel":
    case "import":
      return html`<${Text} text=${subjectId} limit=${140} />`;
    case "fact":
      return html`<a href=${factAddress(subjectId)}>a fact</a>`;
    case "erasure":
      return html`<a href=${address(`/erasures/${subjectId}`)}>an erasure</a>`;
  }
}
