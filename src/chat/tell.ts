import type { Outbox } from "../channels/outbox.ts";
import type { Tx } from "../db/tenant.ts";
import type { Direction } from "./message.ts";
import type { ChannelUpdate } from "./update.ts";

/** An archived message, as far as it decides whether the agent runtime hears of it. */
interface Told {
  readonly id: string;
  readonly userId: string | null;
  readonly turnId: string | null;
  readonly direction: Direction;
  readonly kind?: string;
}

/** Lets the agent runtime know of what a person said since they are approved: that is in a turn. Or pressed. */
export async function tell(
  outbox: Pick<Outbox, "enqueue">,
  update: Pick<ChannelUpdate, "orgId" | "channel" | "account" | "receivedAt" | "forward">,
  event: "message.received" | "message.edited" | "message.deleted",
  message: Told,
  tx: Tx,
): Promise<void> {
  const { id: messageId, userId, turnId, direction, kind } = message;
  if (userId === null || direction !== "inbound" || update.forward === false) return;
  if (turnId === null && kind !== "callback") return;
  const { channel, account, receivedAt } = update;
  await outbox.enqueue(update, { userId, event, messageId, channel, account }, receivedAt, tx);
}
