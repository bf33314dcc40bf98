import { Api, GrammyError, InputFile } from "grammy";
import { describeImage, type Image } from "../chat/outgoing.ts";
import {
  type OutgoingMessage,
  type OutgoingPart,
  type Sender,
  SendFailure,
  type SendingPlace,
  type SentPart,
} from "../chat/sender.ts";
import { AppError } from "../errors.ts";
import type { FormattedText } from "./formatted-text.ts";
import { fromHtml } from "./html.ts";
import { platformMessageIdOf } from "./identity.ts";
import { fromMarkdown } from "./markdown.ts";
import { failureOf } from "./send-failure.ts";
import { MAX_CAPTION, split } from "./splitting.ts";
import { conversationOf, type Target, targetOf } from "./target.ts";

const TIMEOUT_SECONDS = 15;
/** Of one call, over all its parts: a model waits for the answer. */
const PATIENCE_SECONDS = 15;

interface TelegramSenderOptions {
  /** The Bot API's address, without a slash at its end. */
  readonly apiRoot: string;
  /** Waits for milliseconds, less where the signal aborts. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

interface Patience {
  seconds: number;
}
interface SentMessage {
  readonly message_id: number;
  readonly date: number;
}
type Call = (api: Api, target: Target) => Promise<SentMessage>;

/** Sends texts and pictures through the Bot API. Markup becomes entities here, so that none can be refused there. */
export class TelegramSender implements Sender {
  readonly #options: TelegramSenderOptions;
  /** One for each bot: it keeps its connections. */
  readonly #apis = new Map<string, Api>();

  constructor(options: TelegramSenderOptions) {
    this.#options = options;
  }

  directConversation(externalId: string): string | undefined {
    return /^[1-9]\d{0,15}$/.test(externalId) ? externalId : undefined;
  }

  canSendTo(conversationId: string): boolean {
    return targetOf(conversationId) !== undefined;
  }

  compose({ text, format, image }: OutgoingMessage): OutgoingPart[] {
    const whole = formatted(text.replaceAll("\r\n", "\n"), format);
    const patience = { seconds: PATIENCE_SECONDS };
    const part = (
      kind: OutgoingPart["kind"],
      { text: words, entities }: FormattedText,
      payload: object,
      call: Call,
    ): OutgoingPart => ({
      kind,
      text: words === "" ? null : words,
      payload: { ...payload, ...(entities.length > 0 && { entities }) },
      send: (place, signal) => this.#send(place, call, patience, signal),
    });
    const texts = split(whole, image && MAX_CAPTION);
    if (!image && texts.length === 0) {
      throw new AppError("INVALID_INPUT", "text: nothing is left of it without markup");
    }
    const caption = image && (texts.shift() ?? { text: "", entities: [] });
    const messages = texts.map((one) =>
      part("text", one, {}, (api, target) =>
        api.raw.sendMessage({ ...target, text: one.text, entities: [...one.entities] }),
      ),
    );
    if (!image || !caption) return messages;
    const photo = part("photo", caption, { image: describeImage(image) }, (api, target) =>
      api.raw.sendPhoto({
        ...target,
        photo: photoOf(image),
        ...(caption.text !== "" && { caption: caption.text }),
        ...(caption.entities.length > 0 && { caption_entities: [...caption.entities] }),
      }),
    );
    return [photo, ...messages];
  }

  async #send(
    place: SendingPlace,
    call: Call,
    patience: Patience,
    signal: AbortSignal,
  ): Promise<SentPart> {
    let target = targetOf(place.conversationId);
    if (!target) throw new SendFailure("CONFLICT", "nothing can be sent to this conversation");
    const isDirect = target.chat_id > 0 && target.business_connection_id === undefined;
    const api = this.#api(place.token);
    for (let hasMoved = false; ; ) {
      try {
        return sentPart(target, await call(api, target));
      } catch (error) {
        const { retry_after: seconds, migrate_to_chat_id: movedTo } =
          error instanceof GrammyError ? error.parameters : {};
        if (movedTo !== undefined && !hasMoved) {
          hasMoved = true;
          target = { ...target, chat_id: movedTo };
        } else if (seconds === undefined || !(await this.#hasWaited(seconds, patience, signal))) {
          throw failureOf(error, isDirect);
        }
      }
    }
  }

  /** @returns false where it would take too long, or nobody waits for it any more */
  async #hasWaited(seconds: number, patience: Patience, signal: AbortSignal): Promise<boolean> {
    const wanted = Math.max(1, seconds);
    if (wanted > patience.seconds) return false;
    patience.seconds -= wanted;
    await this.#options.wait(wanted * 1000, signal);
    return !signal.aborted;
  }

  #api(token: string): Api {
    const known = this.#apis.get(token);
    if (known) return known;
    const { apiRoot } = this.#options;
    const api = new Api(token, { apiRoot, timeoutSeconds: TIMEOUT_SECONDS });
    this.#apis.set(token, api);
    return api;
  }
}

function formatted(text: string, format: OutgoingMessage["format"]): FormattedText {
  if (format === "markdown") return fromMarkdown(text);
  return format === "html" ? fromHtml(text) : { text, entities: [] };
}

function photoOf(image: Image): string | InputFile {
  if ("url" in image) return image.url;
  return "fileId" in image ? image.fileId : new InputFile(image.bytes, `image.${image.type}`);
}

function sentPart(target: Target, { message_id, date }: SentMessage): SentPart {
  const chat = { id: target.chat_id, type: "unknown" };
  const { business_connection_id } = target;
  const place = business_connection_id === undefined ? {} : { business_connection_id };
  return {
    platformMessageId: platformMessageIdOf({ ...place, chat, message_id, date }, `${date}`),
    conversationId: conversationOf(target),
    sentAt: new Date(date * 1000),
  };
}
