import type { Tx } from "../db/tenant.ts";
import { readPlace } from "../page.ts";
import { notACursor } from "./claim-cursor.ts";
import { type FactPage, type FactQuery, listedFact, SHOWN_ABOVE } from "./listing.ts";
import type { ArchivedPoint, ListingRepository, StrengthPoint } from "./listing-repository.ts";
import type { FactScope, StoredFact } from "./row.ts";
import { foldText, wordsOf } from "./search-text.ts";

/** Half-lives that a claim of this score is from fading. */
const FLOOR = Math.log2(SHOWN_ABOVE / 0.2);
const LIVE = /^s(\d{1,15})_(-?[\d.e+-]{1,30})_([0-9a-f-]{36})$/;
const ARCHIVED = /^a(\d{1,15})_([0-9a-f-]{36})$/;

/** A page of a list begins among the live claims, whose strengths are taken at one time, or among the archived ones. */
type Start =
  | { readonly among: "live"; readonly at: Date; readonly after: StrengthPoint | undefined }
  | { readonly among: "archived"; readonly after: ArchivedPoint | undefined };

/**
 * One page of a scope's claims: live ones, strongest first, and where all are asked for after them the archived ones.
 *
 * @param agents pockets that the caller may look into; undefined = every one
 * @throws AppError INVALID_INPUT for a foreign cursor
 */
export async function listPage(
  repository: ListingRepository,
  scope: FactScope,
  query: FactQuery,
  { agents, now }: { readonly agents: readonly string[] | undefined; readonly now: Date },
  tx: Tx,
): Promise<FactPage> {
  const { limit, search, all = false, archived = false, before: _, ...filter } = query;
  const words = search === undefined ? [] : wordsOf(foldText(search));
  const wanted = { ...filter, words, agents, now, limit: limit + 1 };
  const facts = (rows: readonly StoredFact[]) => rows.map((row) => listedFact(scope, row, now));
  const start = startOf(query, now);
  const ofArchived = async (after: ArchivedPoint | undefined, room: number) => {
    const rows = await repository.archived(scope, { ...wanted, limit: room + 1 }, after, tx);
    const page = rows.slice(0, room);
    const last = page.at(-1) ?? undefined;
    const next = rows.length > room ? (last ? nextArchived(last) : FIRST_ARCHIVED) : null;
    return { facts: facts(page), nextBefore: next };
  };
  if (start.among === "archived") return ofArchived(start.after, limit);
  const { at, after } = start;
  const from = { at, floor: all || archived ? undefined : FLOOR, after };
  const { found, lookedTo } = await repository.strongest(scope, wanted, from, tx);
  const page = found.slice(0, limit);
  const live = facts(page.map(({ row }) => row));
  const last = page.at(-1);
  if (found.length > limit && last) {
    return { facts: live, nextBefore: nextLive(at, { strength: last.strength, id: last.row.id }) };
  }
  if (lookedTo) return { facts: live, nextBefore: nextLive(at, lookedTo) };
  if (!all) return { facts: live, nextBefore: null };
  const rest = await ofArchived(undefined, limit - live.length);
  return { facts: [...live, ...rest.facts], nextBefore: rest.nextBefore };
}

/** Before every archived claim there is. */
const FIRST_ARCHIVED = "a253402300799000_ffffffff-ffff-4fff-bfff-ffffffffffff";

function nextArchived({ id, state }: StoredFact): string {
  return `a${state.archivedAt?.getTime() ?? 0}_${id}`;
}

function nextLive(at: Date, { strength, id }: StrengthPoint): string {
  return `s${at.getTime()}_${strength}_${id}`;
}

function startOf({ before, archived }: FactQuery, now: Date): Start {
  if (before === undefined) {
    return archived
      ? { among: "archived", after: undefined }
      : { among: "live", at: now, after: undefined };
  }
  const [, at, strength, liveId] = LIVE.exec(before) ?? [];
  const live = readPlace(at, liveId);
  if (live && Number.isFinite(Number(strength)) && !archived) {
    return { among: "live", at: live.at, after: { strength: Number(strength), id: live.id } };
  }
  const [, archivedAt, archivedId] = ARCHIVED.exec(before) ?? [];
  const place = readPlace(archivedAt, archivedId);
  if (!place) throw notACursor();
  return { among: "archived", after: { archivedAt: place.at, id: place.id } };
}
