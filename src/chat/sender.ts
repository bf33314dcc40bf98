import type { ErrorCode } from "../errors.ts";
import type { Payload } from "./message.ts";
import type { Image, TextFormat } from "./outgoing.ts";

export interface OutgoingMessage {
  readonly text: string;
  readonly format: TextFormat;
  readonly image?: Image | undefined;
}

/** Where a part goes to, and what allows it. */
export interface SendingPlace {
  readonly conversationId: string;
  readonly token: string;
}

export interface SentPart {
  /** As the platform would call it if it told us of it. */
  readonly platformMessageId: string;
  /** Where it is now: a conversation can move on to another id. */
  readonly conversationId: string;
  /** The platform's own date. */
  readonly sentAt: Date;
}

/** One message of the platform: long texts become several. */
export interface OutgoingPart {
  readonly kind: "text" | "photo";
  /** As people see it, without markup; null for a picture without words. */
  readonly text: string | null;
  /** What the archive keeps beside it. */
  readonly payload: Payload;
  /** @throws SendFailure */
  send(place: SendingPlace, signal: AbortSignal): Promise<SentPart>;
}

/** Sends on one channel. */
export interface Sender {
  /** The conversation with this person and nobody else; undefined where the id is none of the platform. */
  directConversation(externalId: string): string | undefined;
  canSendTo(conversationId: string): boolean;
  /** @throws AppError INVALID_INPUT where nothing is left to send */
  compose(message: OutgoingMessage): readonly OutgoingPart[];
}

/** Why a part was not sent, in words that may be shown and archived: neither secrets nor contents. */
export class SendFailure extends Error {
  override readonly name = "SendFailure";
  readonly code: ErrorCode;
  /** Whether it is sure that nobody got it. */
  readonly isCertain: boolean;
  /** The person takes no messages on this channel. */
  readonly isUnreachable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    {
      isCertain = true,
      isUnreachable = false,
    }: { isCertain?: boolean; isUnreachable?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.isCertain = isCertain;
    this.isUnreachable = isUnreachable;
  }
}
