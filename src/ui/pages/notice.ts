import { html } from "htm/preact";

/** What was done, by the word that the address carries after it: nothing that somebody writes into a link is shown. */
const DONE: Readonly<Record<string, string>> = {
  edited: "Changed. What was said before stays in its history.",
  pinned: "Pinned: it does not fade and does not expire.",
  unpinned: "No longer pinned.",
  archived: "Put away: agents do not recall it any more. You can take it back.",
  restored: "Taken back: agents recall it again.",
  settled: "Settled: this is the value that counts.",
  keep_all: "Settled: all of these values are true.",
  two_things: "Noted: these are two things. The pair does not come back.",
  remembered: "Remembered, with the message as its source.",
  laid_aside: "Laid aside. The message stays in the archive.",
  approved: "Approved: agents answer and learn from what is said from now on.",
  blocked: "Blocked: nothing is learned or forwarded any more.",
  pending: "Waiting again: nothing is learned until somebody approves.",
  linked: "Linked: both are one person from now on.",
  unlinked: "Parted again: each has back what came by their own identities.",
  entry_set: "Saved.",
  entry_deleted: "Deleted.",
  message_deleted: "The message is deleted, with what was learned from it alone.",
  deleted:
    "Deleted, with every statement of it. Only that it was deleted, by whom and why is kept.",
  rules_saved: "Saved. Agents read it with their next call.",
  rules_restored: "Restored as a new version. Agents read it with their next call.",
  memory_changed: "Saved. It counts from now on.",
  job_started: "Started: it runs within seconds, and its result will stand here.",
  replayed: "It is being tried again.",
  key_revoked: "Revoked: whoever uses that key is refused from now on.",
};

const isDone = (word: string): boolean => Object.hasOwn(DONE, word);

export function Notice({ done }: { readonly done: string | undefined }) {
  if (done === undefined || !isDone(done)) return null;
  return html`<p class="notice good" role="status">${DONE[done]}</p>`;
}
