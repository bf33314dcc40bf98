import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Sent {
  readonly method: string;
  readonly token: string;
  readonly chat_id: number;
  readonly text?: string;
  readonly caption?: string;
  readonly entities?: readonly { offset: number; length: number; type: string }[];
  readonly caption_entities?: readonly { offset: number; length: number; type: string }[];
  readonly message_thread_id?: number;
  readonly business_connection_id?: string;
  /** A URL, a file id, or the bytes that were uploaded. */
  readonly photo?: string | Buffer;
}

/** What the Bot API does with one request that it would take. */
type Behaviour =
  | { readonly refuses: number; readonly description: string; readonly parameters?: object }
  /** Sends the message and breaks off before it says so. */
  | "breaks off"
  /** As a proxy in front of it does. */
  | "bad gateway";

const TOO_LONG = "Bad Request: message is too long";

/**
 * `POST /bot<token>/sendMessage` and `/sendPhoto` on loopback: it refuses what Telegram's refuses, and numbers and dates
 * the messages of each chat.
 */
export class BotApiDouble {
  readonly sent: Sent[] = [];
  readonly token = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
  /** Chats that the bot may write to; others are not found. */
  readonly chats = new Set<number>();
  /** Topics, as chat:thread, and business connections, as connection:chat. */
  readonly topics = new Set<string>();
  readonly connections = new Set<string>();
  /** Unix seconds of the next message. */
  date = 1_772_359_260;
  /** Told of a message that is sent, before whoever sent it is. */
  onSent: ((messageId: number) => Promise<unknown>) | undefined;
  #lastId = 100;
  readonly #next: Behaviour[] = [];
  readonly #server = createServer((request, response) => {
    void this.#take(request, response);
  });

  static async start(): Promise<BotApiDouble> {
    const double = new BotApiDouble();
    double.#server.listen(0, "127.0.0.1");
    await once(double.#server, "listening");
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get env(): Record<string, string> {
    return { TELEGRAM_BOT_TOKEN: this.token, TELEGRAM_API_ROOT: this.url };
  }

  /** The next requests get these answers, one each. */
  next(...behaviours: readonly Behaviour[]): void {
    this.#next.push(...behaviours);
  }

  tooMany(retryAfter: number): Behaviour {
    const description = `Too Many Requests: retry after ${retryAfter}`;
    return { refuses: 429, description, parameters: { retry_after: retryAfter } };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, token = "", method = ""] =
      /^\/bot([^/]+)\/(sendMessage|sendPhoto)$/.exec(request.url ?? "") ?? [];
    if (token !== this.token) return refuse(response, 401, "Unauthorized");
    const fields = await readFields(request, Buffer.concat(chunks));
    const message = { ...fields, method, token } as unknown as Sent;
    const now = this.#next.shift();
    if (now === "bad gateway") {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>502</h1>");
      return;
    }
    if (now !== undefined && now !== "breaks off")
      return refuse(response, now.refuses, now.description, now.parameters);
    const fault = this.#faultOf(message);
    if (fault) return refuse(response, 400, fault);
    this.sent.push(message);
    if (now === "breaks off") {
      request.socket.destroy();
      return;
    }
    const { chat_id: id, business_connection_id, message_thread_id } = message;
    const result = {
      message_id: ++this.#lastId,
      date: this.date++,
      chat: { id, type: id > 0 ? "private" : "supergroup" },
      ...(business_connection_id && { business_connection_id }),
      ...(message_thread_id && { message_thread_id, is_topic_message: true }),
      ...(message.text && { text: message.text }),
    };
    await this.onSent?.(result.message_id);
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ok: true, result }));
  }

  #faultOf(message: Sent): string | undefined {
    const { chat_id, message_thread_id: thread, business_connection_id: connection } = message;
    if (connection !== undefined && !this.connections.has(`${connection}:${chat_id}`))
      return "Bad Request: business connection not found";
    if (connection === undefined && !this.chats.has(chat_id)) return "Bad Request: chat not found";
    if (thread !== undefined && !this.topics.has(`${chat_id}:${thread}`))
      return "Bad Request: message thread not found";
    if ("parse_mode" in message) return "the double takes entities only";
    if (message.method === "sendMessage") {
      if (!message.text?.trim()) return "Bad Request: message text is empty";
      return faultOfText(message.text, message.entities ?? [], 4096, TOO_LONG);
    }
    const { caption = "", caption_entities = [], photo } = message;
    if (photo === undefined) return "Bad Request: there is no photo in the request";
    return (
      faultOfPhoto(photo) ??
      faultOfText(caption, caption_entities, 1024, "Bad Request: message caption is too long")
    );
  }
}

const JSON_TYPE = { "content-type": "application/json" };

function faultOfText(
  text: string,
  entities: readonly { offset: number; length: number }[],
  limit: number,
  tooLong: string,
): string | undefined {
  if (text.length > limit) return tooLong;
  if (!text.isWellFormed()) return "Bad Request: strings must be encoded in UTF-8";
  const isBeyond = ({ offset, length }: { offset: number; length: number }) =>
    offset < 0 || length < 1 || offset + length > text.length;
  return entities.some(isBeyond) ? "Bad Request: entity beyond the text" : undefined;
}

function faultOfPhoto(photo: string | Buffer): string | undefined {
  if (typeof photo !== "string")
    return photo.length > 10 * 1024 * 1024 ? "Bad Request: file is too big" : undefined;
  if (photo.startsWith("http"))
    return photo.endsWith(".png") ? undefined : 'Bad Request: failed to get HTTP URL "content"';
  return photo.startsWith("AgAC")
    ? undefined
    : "Bad Request: wrong file identifier/HTTP URL specified";
}

/** The fields of a JSON or multipart request; a photo `attach://name` is the part of that name. */
async function readFields(
  request: IncomingMessage,
  body: Buffer,
): Promise<Record<string, unknown>> {
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/")) return JSON.parse(body.toString()) as Record<string, unknown>;
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": type },
  }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (typeof value !== "string") fields[name] = Buffer.from(await value.arrayBuffer());
    else fields[name] = /^[-\d[{]/.test(value) ? JSON.parse(value) : value;
  }
  const attached = /^attach:\/\/(.+)$/.exec(String(fields.photo))?.[1];
  if (attached !== undefined) fields.photo = fields[attached];
  return fields;
}

function refuse(
  response: ServerResponse,
  error_code: number,
  description: string,
  parameters?: object,
): void {
  const answer = { ok: false, error_code, description, ...(parameters && { parameters }) };
  response.writeHead(error_code, JSON_TYPE).end(JSON.stringify(answer));
}
