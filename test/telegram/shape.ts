import { ana, ben } from "./fixtures.ts";

/** How an update is to be found in the archive. `person` is the external id, null = nobody's. */
export interface Archived {
  readonly kind: string;
  readonly text: string | null;
  readonly person: string | null;
  readonly direction?: "outbound";
  readonly forwarded?: true;
  readonly conversation?: string;
}

/** What a case delivers, in order, and the rows that come of it. */
export type Shape = readonly [name: string, updates: readonly object[], rows: readonly Archived[]];

export const hers = (kind: string, text: string | null = null): Archived => ({
  kind,
  text,
  person: `${ana.id}`,
});
export const his = (kind: string, text: string | null = null): Archived => ({
  kind,
  text,
  person: `${ben.id}`,
});
export const nobodys = (kind: string, text: string | null = null): Archived => ({
  kind,
  text,
  person: null,
});
