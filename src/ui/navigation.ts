import { isAdmin, type Principal } from "../access/principal.ts";

interface NavigationEntry {
  /** Below /ui; also the word by which a page says that it is this one. */
  readonly path: string;
  readonly label: string;
  /** Every other screen is for anybody: a key of one person is shown that person alone. */
  readonly forAdmins?: true;
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
      { path: "/facts", label: "Facts" },
      { path: "/inbox", label: "Inbox" },
      { path: "/duplicates", label: "Duplicates" },
      { path: "/watch", label: "Watch" },
    ],
  },
  {
    label: "People",
    entries: [
      { path: "/people", label: "People" },
      { path: "/chat", label: "Chat" },
      { path: "/preview", label: "What the agent sees" },
    ],
  },
  {
    label: "Rules",
    entries: [
      { path: "/rules", label: "Rules", forAdmins: true },
      { path: "/comparison", label: "On and off", forAdmins: true },
    ],
  },
  {
    label: "Operations",
    entries: [
      { path: "/jobs", label: "Jobs", forAdmins: true },
      { path: "/dead-letters", label: "Dead letters", forAdmins: true },
      { path: "/keys", label: "Keys", forAdmins: true },
      { path: "/audit", label: "Audit trail", forAdmins: true },
      { path: "/data", label: "Export and erase" },
    ],
  },
];

/** The part of the menu that a key may follow; groups without entries are left out. */
export function navigationOf(principal: Principal): readonly NavigationGroup[] {
  return NAVIGATION.map(({ label, entries }) => ({
    label,
    entries: entries.filter(({ forAdmins }) => !forAdmins || isAdmin(principal)),
  })).filter(({ entries }) => entries.length > 0);
}
