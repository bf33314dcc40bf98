import { memoryCounts } from "../../src/db/schema/counts.ts";
import { erasures } from "../../src/db/schema/erasure.ts";
import { ruleVersions } from "../../src/db/schema/rules.ts";
import { possibleDuplicates } from "../../src/db/schema/search.ts";
import type { TestApp } from "../support/app.ts";

/** Gives an org rules, a count of what it remembers, two facts that may be one, and an erasure of somebody long gone. */
export async function seedPage(
  { database }: TestApp,
  org: { readonly orgId: string; readonly slug: string; readonly factIds: readonly string[] },
  now: Date,
) {
  const { orgId, slug, factIds } = org;
  const [firstId, secondId] = factIds.toSorted();
  if (firstId === undefined || secondId === undefined) throw new Error("two facts are needed");
  return database.transactions.system("operator", async (tx) => {
    const by = { createdBy: "x", createdAt: now };
    const [rules] = await tx
      .insert(ruleVersions)
      .values({ orgId, version: 1, text: `rules of ${slug}`, tokens: 4, ...by })
      .returning();
    const day = "2026-03-01";
    const counts = JSON.stringify({ people: 1, messages: 1, entries: 0, facts: [] });
    const counted = { countedAt: now, counts };
    // The job may count the org before or after this: noon is later, and the later count of a day is kept.
    await tx
      .insert(memoryCounts)
      .values({ orgId, day, ...counted })
      .onConflictDoUpdate({ target: [memoryCounts.orgId, memoryCounts.day], set: counted });
    await tx
      .insert(possibleDuplicates)
      .values({ orgId, firstId, secondId, likeness: 0.9, foundAt: now });
    const [erasure] = await tx
      .insert(erasures)
      .values({
        ...{ orgId, position: 1, kind: "user", subjectId: orgId, state: "scrubbed" },
        ...{ requestedBy: "x", requestedAt: now, report: "{}", hash: `hash of ${slug}` },
      })
      .returning();
    if (!rules || !erasure) throw new Error("not seeded");
    return { rules, erasure, duplicates: { firstId, secondId }, day };
  });
}
