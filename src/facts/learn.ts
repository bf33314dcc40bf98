import type { FactDraft, FactScopeName } from "./fact.ts";

/** The turn that drafts were extracted from. Whose facts they become is the server's to say, never the model's. */
export interface LearnSource {
  readonly orgId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly identityId: string | null;
  readonly storeId: string | null;
  /** The person's message that states them; with `#<revision>` after an edit. */
  readonly sourceMessageId: string;
  readonly channel: string;
  readonly account: string;
  readonly conversationId: string;
  readonly observedAt: Date;
  readonly sourceReason: "user-correction" | null;
  /** The key of a person who states it in the extraction's place; absent = the extraction. */
  readonly writtenBy?: string;
}

export interface LearnDraft {
  readonly scope: FactScopeName;
  readonly draft: FactDraft;
}

/** What became of the drafts: every one is stored or counted here. */
export interface Learned {
  readonly stored: number;
  readonly dropped: Readonly<Record<string, number>>;
}
