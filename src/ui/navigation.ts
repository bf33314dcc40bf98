import { hasRole, type Principal } from "../access/principal.ts";

/**
 * Who a screen is for: `anybody` also a key of one person, which is shown that person alone; `member` every other key;
 * `admin` and `owner` keys of that role without pins, as `requireAdmin` has it.
 */
type Audience = "anybody" | "member" | "admin" | "owner";

interface NavigationEntry {
  /** Below /ui; also the word by which a page says that it is this one. */
  readonly path: string;
  readonly label: string;
  readonly audience: Audience;
}

interface NavigationGroup {
  readonly label: string;
  readonly entries: readonly NavigationEntry[];
}

/** Every screen that stands in the menu, once. */
const NAVIGATION: readonly NavigationGroup[] = [
  {
    label: "Memory",
    entries: [
      { path: "/facts", label: "Facts", audience: "anybody" },
      { path: "/inbox", label: "Inbox", audience: "anybody" },
      { path: "/duplicates", label: "Duplicates", audience: "anybody" },
      { path: "/watch", label: "Watch", audience: "anybody" },
    ],
  },
  {
    label: "People",
    entries: [
      { path: "/people", label: "People", audience: "anybody" },
      { path: "/chat", label: "Chat", audience: "anybody" },
      { path: "/preview", label: "What the agent sees", audience: "anybody" },
    ],
  },
  {
    label: "Rules",
    entries: [
      { path: "/rules", label: "Rules", audience: "admin" },
      { path: "/comparison", label: "On and off", audience: "admin" },
    ],
  },
  {
    label: "Operations",
    entries: [
      { path: "/jobs", label: "Jobs", audience: "admin" },
      { path: "/dead-letters", label: "Dead letters", audience: "admin" },
      { path: "/keys", label: "Keys", audience: "admin" },
      { path: "/audit", label: "Audit trail", audience: "admin" },
      { path: "/data", label: "Export and erase", audience: "anybody" },
    ],
  },
];

/** The part of the menu that a key may follow; groups without entries are left out. */
export function navigationOf(principal: Principal): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, entries }) => ({
    label,
    entries: entries.filter(({ audience }) => isFor(principal, audience)),
  })).filter(({ entries }) => entries.length > 0);
}

function isFor(principal: Principal, audience: Audience): boolean {
  if (audience === "anybody") return true;
  if (audience === "member") return principal.pins.userId === undefined;
  return hasRole(principal, audience) && Object.keys(principal.pins).length === 0;
}
