import { html } from "htm/preact";
import { Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";

/** What acted without a key, in words. */
const OTHERS: Readonly<Record<string, string>> = {
  operator: "the command line",
  anonymous: "somebody on this machine",
  system: "the server",
  extraction: "the reader of chats",
  code: "a code",
  assertion: "the host app",
};

/** The names of an org's keys by their ids: none for whoever is no admin. */
export type KeyNames = ReadonlyMap<string, string>;

interface ActorProps {
  readonly actor: string;
  readonly names: KeyNames;
  /** Whose own key is called so. */
  readonly viewer?: Viewer;
}

/** Who did something, as people know them. */
export function Actor({ actor, names, viewer }: ActorProps) {
  if (actor === viewer?.principal.keyId) return html`<span>your key</span>`;
  const name = names.get(actor);
  if (name !== undefined) return html`<span>key “<${Text} text=${name} limit=${60} />”</span>`;
  if (Object.hasOwn(OTHERS, actor)) return html`<span>${OTHERS[actor]}</span>`;
  return html`<span>another key, <code><${Text} text=${actor} limit=${64} /></code></span>`;
}
