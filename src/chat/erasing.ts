import type { Outbox } from "../channels/outbox.ts";
import type { Tx } from "../db/tenant.ts";
import type { FactService } from "../facts/service.ts";
import type { SearchIndex } from "../search/service.ts";
import type { TurnAssignment } from "../turns/assignment.ts";
import { holdOwners } from "./owners.ts";
import type { PlatformMessageRepository } from "./platform-repository.ts";
import type { ChatRepository } from "./repository.ts";
import { tell } from "./tell.ts";
import type { ChannelUpdate } from "./update.ts";

export interface ErasingDependencies {
  readonly chat: ChatRepository;
  readonly platform: PlatformMessageRepository;
  readonly facts: FactService;
  readonly index: SearchIndex;
  readonly turns: TurnAssignment;
  readonly outbox: Pick<Outbox, "enqueue">;
}

/** A message that is gone from the archive. */
interface Erased {
  readonly id: string;
  readonly turnId: string | null;
  readonly userId: string | null;
  readonly direction: "inbound" | "outbound";
}

/** Erases messages that their platform's side deleted, and what was learned from them alone. */
export async function eraseDeleted(
  deps: ErasingDependencies,
  update: ChannelUpdate,
  platformMessageIds: readonly string[],
  tx: Tx,
): Promise<void> {
  const owners = await holdOwners(deps, update, platformMessageIds, tx);
  const erased = await deps.chat.delete(update, update, platformMessageIds, tx);
  await eraseTraces(deps, update, erased, owners, tx);
}

/** What goes with messages that were just deleted, of people who are held: facts, words, vectors; the runtime is told. */
export async function eraseTraces(
  { facts, index, turns, outbox }: ErasingDependencies,
  update: Pick<ChannelUpdate, "orgId" | "channel" | "account" | "receivedAt" | "forward">,
  erased: readonly Erased[],
  owners: readonly string[],
  tx: Tx,
): Promise<number> {
  const turnIds = erased.flatMap(({ turnId }) => turnId ?? []);
  await turns.deleted(update, turnIds, tx);
  const ids = erased.map(({ id }) => id);
  const learned = await facts.eraseBySource(update, ids, tx);
  await index.indexAfterDeletion(update, owners, tx);
  for (const message of erased) await tell(outbox, update, "message.deleted", message, tx);
  return learned;
}
