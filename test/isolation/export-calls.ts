import { ExportImportRepository } from "../../src/export/import-repository.ts";
import { ExportRepository, START } from "../../src/export/repository.ts";
import { type AnySection, LISTED_NAMES, SECTION_NAMES } from "../../src/export/rows.ts";
import type { ExportScope } from "../../src/export/scope.ts";
import { sectionsOf } from "../../src/export/sections.ts";
import { answers, type Calls, empty, nothing } from "./call.ts";
import { NOON, type SeededOrg } from "./seeded-org.ts";

const rows = new ExportRepository();
const restored = new ExportImportRepository();

/** Of its own org the other one's person and store, and its own org itself. */
const scopesOf = ({ userId, storeId }: SeededOrg, { orgId }: { orgId: string }): ExportScope[] => [
  { name: "user", orgId, userId, userIds: [userId] },
  { name: "store", orgId, storeId },
  { name: "org", orgId },
];

async function inEach<T>(
  scopes: readonly ExportScope[],
  read: (scope: ExportScope, section: AnySection) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  // An org has settings of its own, and events of its own calls.
  for (const scope of scopes)
    for (const section of sectionsOf(scope, [...SECTION_NAMES, ...LISTED_NAMES]))
      if (section !== "settings") found.push(...(await read(scope, section)));
  return found;
}

/** Of the repositories of exports. */
export const EXPORT_CALLS: Readonly<Record<string, Calls>> = {
  ExportRepository: {
    org: answers("mine", async (_, mine, tx) => (await rows.org(mine, tx))?.name),
    family: empty((a, mine, tx) => rows.family(mine, a.userId, tx)),
    count: empty((a, mine, tx) =>
      inEach(scopesOf(a, mine), async (scope, section) => {
        const count = await rows.count(scope, section, tx);
        return count === 0 ? [] : [`${count} ${section}`];
      }),
    ),
    page: empty((a, mine, tx) =>
      inEach(scopesOf(a, mine), async (scope, section) => {
        const { rows: found } = await rows.page(scope, section, START, 99, tx);
        return found;
      }),
    ),
  },
  ExportImportRepository: {
    find: empty((a, mine, tx) => restored.find(mine, "users", ["id"], [{ id: a.userId }], tx)),
    known: empty((a, mine, tx) => restored.known(mine, "users", [a.userId], tx)),
    // The place of its id is taken, and nobody is told by whom.
    insert: empty((a, mine, tx) => {
      const store = { id: a.storeId, slug: "stolen", name: "stolen", createdAt: NOON };
      return restored.insert(mine, "stores", ["id"], [store], tx);
    }),
    setMemory: nothing((_, mine, tx) => restored.setMemory(mine, { memoryEnabled: false }, tx)),
    release: answers(0, (_, mine, tx) => restored.release(mine, "user", 9, tx)),
  },
};
