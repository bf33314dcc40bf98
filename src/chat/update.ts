import type { ChannelMessage, DeliveryStatus, Sender } from "./message.ts";

/** What one webhook delivery asks the archive to do, in order. */
export type ChannelAction =
  /** Archive a message; on an edit replace its content and keep the earlier one as a revision. */
  | { readonly type: "message"; readonly message: ChannelMessage; readonly isEdit: boolean }
  /** Keep what no adapter understands: archived as kind `unsupported`, so that it stays visible. */
  | { readonly type: "raw"; readonly reason: string; readonly message: ChannelMessage }
  /** The platform's side deleted these messages: erase them here too. */
  | { readonly type: "deleted"; readonly platformMessageIds: readonly string[] }
  /** How far a message of ours came. Says nothing of a message that was never archived. */
  | {
      readonly type: "status";
      readonly platformMessageId: string;
      readonly status: DeliveryStatus;
    }
  /** The platform says that somebody known by one of `earlier` has further ids on the channel. */
  | {
      readonly type: "renamed";
      readonly earlier: readonly string[];
      readonly ids: readonly string[];
    }
  /** The person stopped or restarted taking messages on this channel (not our status `blocked`). */
  | { readonly type: "blocked" | "unblocked"; readonly person: Sender; readonly at: Date }
  /** The conversation goes on under another id. Both ids stay in the archive as they were. */
  | {
      readonly type: "migrated";
      readonly fromConversationId: string;
      readonly toConversationId: string;
    };

export interface ChannelUpdate {
  readonly channel: string;
  readonly account: string;
  readonly orgId: string;
  readonly storeId?: string;
  /** Unique per (channel, account): a redelivery carries the same one. */
  readonly dedupeKey: string;
  readonly receivedAt: Date;
  /** People who write for the first time need no approval. */
  readonly autoApprove: boolean;
  /** false: the agent runtime is not told of it. Default true. */
  readonly forward?: boolean;
  /** false: an edit is not learned from; what was learned from the earlier words goes all the same. Default true. */
  readonly learn?: boolean;
  readonly actions: readonly ChannelAction[];
}
