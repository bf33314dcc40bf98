import type { World } from "./world.ts";

export interface Screen {
  /** Names its pictures. */
  readonly name: string;
  readonly path: (world: World) => string;
}

/** Every screen of the page as the owner's key sees it, once. What is not in here is neither looked at nor checked. */
export const SCREENS: readonly Screen[] = [
  { name: "overview", path: () => "/ui" },
  { name: "facts-where", path: () => "/ui/facts" },
  { name: "facts-person", path: ({ userId }) => `/ui/facts?scope=user&userId=${userId}` },
  { name: "facts-empty", path: ({ pendingId }) => `/ui/facts?scope=user&userId=${pendingId}` },
  { name: "fact", path: ({ factId }) => `/ui/facts/${factId}` },
  { name: "fact-contested", path: ({ contestedId }) => `/ui/facts/${contestedId}` },
  {
    name: "facts-put-away",
    path: ({ userId }) => `/ui/facts?scope=user&userId=${userId}&only=archived`,
  },
  { name: "inbox", path: () => "/ui/inbox" },
  { name: "corrections", path: () => "/ui/inbox/corrections" },
  { name: "duplicates", path: () => "/ui/duplicates" },
  { name: "watch", path: () => "/ui/watch" },
  { name: "people", path: () => "/ui/people" },
  { name: "person", path: ({ userId }) => `/ui/people/${userId}` },
  { name: "person-pending", path: ({ pendingId }) => `/ui/people/${pendingId}` },
  { name: "chat", path: ({ userId }) => `/ui/chat?userId=${userId}` },
  { name: "chat-where", path: () => "/ui/chat" },
  { name: "chat-found", path: ({ userId }) => `/ui/chat?userId=${userId}&search=wool` },
  { name: "chat-nobody", path: () => "/ui/chat?nobody=1" },
  { name: "entries", path: ({ userId }) => `/ui/people/${userId}/memory` },
  {
    name: "entry",
    path: ({ userId }) => `/ui/people/${userId}/memory/entry?key=last_order`,
  },
  { name: "link-choose", path: ({ userId }) => `/ui/people/${userId}/link` },
  {
    name: "link-confirm",
    path: ({ userId, pendingId }) => `/ui/people/${userId}/link?with=${pendingId}`,
  },
  { name: "preview", path: ({ userId }) => `/ui/preview?userId=${userId}&query=wool+coat` },
  { name: "message", path: ({ messageId }) => `/ui/chat/${messageId}` },
  { name: "rules", path: () => "/ui/rules" },
  { name: "rules-store", path: ({ storeId }) => `/ui/rules?storeId=${storeId}` },
  { name: "rules-version", path: ({ rulesId }) => `/ui/rules/versions/${rulesId}` },
  { name: "comparison", path: () => "/ui/comparison" },
  { name: "jobs", path: () => "/ui/jobs" },
  { name: "job-runs", path: () => "/ui/jobs?kind=facts.expire" },
  { name: "dead-letters", path: () => "/ui/dead-letters" },
  { name: "keys", path: () => "/ui/keys" },
  { name: "new-key", path: () => "/ui/keys/new?person=telegram" },
  { name: "audit", path: () => "/ui/audit" },
  { name: "data", path: () => "/ui/data" },
  { name: "data-person", path: ({ userId }) => `/ui/data?userId=${userId}` },
  { name: "erasures", path: () => "/ui/erasures" },
  { name: "error", path: () => "/ui/facts/nothing-like-this" },
];
