import type { Tx } from "../db/tenant.ts";
import type { SearchIndex } from "../search/service.ts";
import type { PlatformMessageRepository } from "./platform-repository.ts";
import type { ChannelUpdate } from "./update.ts";

/**
 * Holds the people whose these messages of an account are. Asked again until it is so: a link may have given them to
 * another person while this waited.
 */
export async function holdOwners(
  {
    platform,
    index,
  }: { readonly platform: PlatformMessageRepository; readonly index: SearchIndex },
  update: ChannelUpdate,
  platformMessageIds: readonly string[],
  tx: Tx,
): Promise<string[]> {
  const held = new Set<string>();
  for (;;) {
    const owners = await platform.ownersOf(update, update, platformMessageIds, tx);
    const fresh = owners.filter((id) => !held.has(id));
    if (fresh.length === 0) return owners;
    await index.holdPeople(update, fresh, tx);
    for (const id of fresh) held.add(id);
  }
}
