import { optsOut } from "../chat/opt-out.ts";
import { type Chat, isId, readChat } from "./telegram-chat.ts";
import { type ExportEntry, type ExportedChat, readTelegramExport } from "./telegram-file.ts";
import { type Read, readExported, type SkipReason, userIdOf } from "./telegram-message.ts";

/** Messages of a bot that are held until its person is seen. More than any bot says before it hears anything. */
const MAX_HELD = 1_000;

export interface TelegramOptions {
  /** The Telegram id of whoever exported it, where the export does not tell. */
  readonly me: number | undefined;
  /** What somebody sent to themselves is imported too. */
  readonly savedMessages: boolean;
}

/** Reads the messages of an export as the archive wants them, or says why not. @throws FileFault */
export async function* readTelegram(
  chunks: AsyncIterable<Uint8Array>,
  options: TelegramOptions,
): AsyncGenerator<Read> {
  let open: { readonly of: ExportedChat; readonly reader: ChatReader } | undefined;
  let fault: unknown;
  try {
    for await (const entry of readTelegramExport(chunks)) {
      if (open?.of !== entry.chat) {
        yield* open?.reader.end() ?? [];
        open = { of: entry.chat, reader: new ChatReader(entry, options) };
      }
      yield* open.reader.read(entry.message);
    }
  } catch (error) {
    fault = error;
  }
  yield* open?.reader.end() ?? [];
  if (fault) throw fault;
}

class ChatReader {
  readonly #chat: Chat | undefined;
  readonly #refusal: SkipReason | undefined;
  #exporter: number | undefined;
  #held: unknown[] = [];
  /** The person asked to leave their last message out. */
  #isOut = false;

  constructor({ chat, owner }: ExportEntry, { me, savedMessages }: TelegramOptions) {
    this.#chat = readChat(chat);
    this.#exporter = me ?? (isId(owner) ? owner : undefined);
    if (!this.#chat) this.#refusal = "a chat of another kind";
    if (this.#chat?.kind === "saved" && !savedMessages)
      this.#refusal = "saved messages (import them with --saved-messages)";
  }

  *read(message: unknown): Generator<Read> {
    if (!this.#chat || this.#refusal) {
      yield { skipped: this.#refusal ?? "a chat of another kind" };
      return;
    }
    if (this.#chat.kind === "bot" && this.#exporter === undefined) {
      this.#exporter = personIn(message, this.#chat.id);
      if (this.#exporter === undefined && this.#held.length < MAX_HELD) {
        this.#held.push(message);
        return;
      }
      yield* this.end();
    }
    yield this.#readOne(message, this.#chat);
  }

  /** What was held until here. */
  *end(): Generator<Read> {
    for (const message of this.#held.splice(0))
      if (this.#chat) yield this.#readOne(message, this.#chat);
  }

  /** An answer may repeat what its person asked to leave out, so it is out too. */
  #readOne(exported: unknown, chat: Chat): Read {
    const read = readExported(exported, chat, this.#exporter);
    if (!("message" in read) || (chat.kind !== "bot" && chat.kind !== "person")) return read;
    const { message } = read;
    if (message.direction === "inbound") this.#isOut = optsOut(message.text);
    return this.#isOut ? { message: { ...message, optedOut: true } } : read;
  }
}

function personIn(message: unknown, botId: number): number | undefined {
  const from =
    typeof message === "object" && message !== null && "from_id" in message && message.from_id;
  const id = userIdOf(from);
  return id === botId ? undefined : id;
}
