import { html } from "htm/preact";
import { Text } from "../text.ts";

/** What acted without a key, in words. */
const OTHERS: Readonly<Record<string, string>> = {
  operator: "the command line",
  anonymous: "somebody on this machine",
  system: "the server",
  code: "a code",
  assertion: "the host app",
};

/** The names of an org's keys by their ids. */
export type KeyNames = ReadonlyMap<string, string>;

interface ActorProps {
  readonly actor: string;
  readonly names: KeyNames;
}

/** Who did something, as people know them. */
export function Actor({ actor, names }: ActorProps) {
  const name = names.get(actor);
  if (name !== undefined) return html`<span>key “<${Text} text=${name} limit=${60} />”</span>`;
  if (Object.hasOwn(OTHERS, actor)) return html`<span>${OTHERS[actor]}</span>`;
  return html`<code><${Text} text=${actor} limit=${64} /></code>`;
}
