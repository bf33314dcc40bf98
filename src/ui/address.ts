import type { Place } from "../facts/review.ts";

type Parameters = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** An address of the memory page. Parameters that are absent, empty or false are left out; true is `1`. */
export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    query.set(name, value === true ? "1" : String(value));
  }
  return query.size === 0 ? `/ui${path}` : `/ui${path}?${query}`;
}

export function factAddress(factId: string, parameters?: Parameters): string {
  return address(`/facts/${encodeURIComponent(factId)}`, parameters);
}

export function listAddress({ scope, userId, storeId }: Place, parameters?: Parameters): string {
  return address("/facts", { scope, userId, storeId, ...parameters });
}

export function personAddress(userId: string, parameters?: Parameters, below = ""): string {
  return address(`/people/${encodeURIComponent(userId)}${below}`, parameters);
}

export function messageAddress(messageId: string): string {
  return address(`/chat/${encodeURIComponent(messageId)}`);
}
