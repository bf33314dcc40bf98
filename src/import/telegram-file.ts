import { Tokenizer, TokenParser, TokenType } from "@streamparser/json";
import { FileFault } from "./refusal.ts";

/** Far more than any message; what is larger would have to be held in memory whole. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;
/** Deeper nesting than Telegram's own costs the parser time by its square. */
const MAX_DEPTH = 250;
const OPENING: ReadonlySet<TokenType> = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET]);
const CLOSING: ReadonlySet<TokenType> = new Set([TokenType.RIGHT_BRACE, TokenType.RIGHT_BRACKET]);
const CHAT_FIELDS = ["name", "type", "id"] as const;
const FULL = ["chats.list", "left_chats.list"];
const ONE_CHAT = CHAT_FIELDS.map((field) => `$.${field}`).concat("$.messages.*");
const MANY_CHATS = FULL.flatMap((list) =>
  [...CHAT_FIELDS, "messages.*"].map((field) => `$.${list}.*.${field}`),
);

/** A chat as the export's header has it, before anything is checked. */
export interface ExportedChat {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly id?: unknown;
}

export interface ExportEntry {
  /** The same object for all messages of one chat. */
  readonly chat: ExportedChat;
  readonly message: unknown;
  /** Whose account it is; a full export says so, that of a single chat does not. */
  readonly owner: unknown;
}

/**
 * The messages of a Telegram Desktop JSON export, of a single chat or of an account, as they come: what is held of the
 * file is a chunk and a message, whatever its size. The rest of the export (contacts, sessions, calls) is passed over.
 *
 * @throws FileFault after all messages before the fault: for what is no such export, and where the file ends too early
 */
export async function* readTelegramExport(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ExportEntry> {
  const reader = new ExportReader();
  for await (const chunk of chunks) yield* reader.read(chunk);
  reader.end();
}

class ExportReader {
  readonly #tokens = new Tokenizer();
  readonly #values = new TokenParser({
    paths: [...ONE_CHAT, ...MANY_CHATS, "$.personal_information.user_id"],
    keepStack: false,
  });
  #entries: ExportEntry[] = [];
  #chat: { -readonly [K in keyof ExportedChat]: unknown } = {};
  /** Which chat of the export it is, e.g. `chats.list.3`. */
  #place = "";
  #owner: unknown;
  #isExport = false;
  #bytes = 0;
  /** Where the value began that the parser holds now. */
  #valueFrom = 0;
  #depth = 0;
  /** Of a message: deeper is inside of one. */
  #messageDepth = 5;
  #fault: FileFault | undefined;

  constructor() {
    this.#tokens.onToken = (token) => {
      if (OPENING.has(token.token)) this.#depth++;
      else if (CLOSING.has(token.token)) this.#depth--;
      if (this.#depth > MAX_DEPTH) throw new FileFault("it nests deeper than any export");
      if (this.#depth < this.#messageDepth) this.#valueFrom = this.#bytes;
      this.#values.write(token);
    };
    this.#values.onValue = ({ value, key, stack }) => {
      const path = stack.slice(1).map((frame) => frame.key);
      this.#note([...path, key].map(String), value);
    };
  }

  *read(chunk: Uint8Array): Generator<ExportEntry> {
    try {
      this.#tokens.write(chunk);
    } catch (error) {
      this.#fault = this.#faultOf(error);
    }
    this.#bytes += chunk.length;
    yield* this.#entries.splice(0);
    if (this.#fault) throw this.#fault;
    if (this.#bytes - this.#valueFrom > MAX_VALUE_BYTES) {
      throw new FileFault("one value has more than 16 MB, which no message has");
    }
  }

  end(): void {
    if (!this.#isExport) throw notAnExport();
    if (this.#values.isEnded) return;
    throw new FileFault("the file ends in the middle; export it again for the rest.");
  }

  #note(path: readonly string[], value: unknown): void {
    const field = path.at(-1) ?? "";
    if (path[0] === "personal_information") {
      this.#owner = value;
      this.#isExport = true;
      return;
    }
    const isMessage = path.at(-2) === "messages";
    const place = path.slice(0, isMessage ? -2 : -1).join(".");
    if (place !== this.#place || (!isMessage && Object.hasOwn(this.#chat, field))) {
      this.#place = place;
      this.#chat = {};
    }
    if (!isMessage) {
      this.#chat[field as keyof ExportedChat] = value;
      if (place === "") this.#messageDepth = 3;
      this.#isExport ||= Object.hasOwn(this.#chat, "type") && Object.hasOwn(this.#chat, "id");
      return;
    }
    this.#isExport = true;
    this.#entries.push({ chat: this.#chat, message: value, owner: this.#owner });
  }

  #faultOf(error: unknown): FileFault {
    if (error instanceof FileFault) return error;
    if (!this.#isExport) return notAnExport(error);
    return new FileFault("from there on it is no JSON; export it again for the rest.", {
      cause: error,
    });
  }
}

function notAnExport(cause?: unknown): FileFault {
  return new FileFault(
    "it is no Telegram export. In Telegram Desktop choose Export chat history (or Settings, Advanced, Export Telegram data) and the format machine-readable JSON.",
    { cause },
  );
}
