import { describeFault } from "../json-faults.ts";
import { type Fault, type Keep, MAX_FAULTS, scanJson } from "../json-scan.ts";
import { INVALID_REQUEST, idOf, isObject, PARSE_ERROR, type RpcId } from "./rpc.ts";

/** As many as the SDK takes. */
const MAX_BATCH = 100;

/** A request body that is refused as a whole, with the HTTP status and JSON-RPC code to answer. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly status: number;
  readonly code: number;
  readonly id: RpcId;

  constructor(
    message: string,
    options: ErrorOptions & { readonly status: number; readonly code: number; readonly id?: RpcId },
  ) {
    super(message, options);
    this.status = options.status;
    this.code = options.code;
    this.id = options.id ?? null;
  }
}

const UNREADABLE = { status: 400, code: PARSE_ERROR } as const;

/** One JSON-RPC message and what JavaScript would have changed in its `params.arguments` (paths start there). */
export interface Incoming {
  readonly message: unknown;
  readonly faults: readonly Fault[];
}

/** A parsed body: one message, or a batch in the order it was sent. */
export interface Body {
  readonly batch: boolean;
  readonly messages: readonly Incoming[];
}

/**
 * Parses the body of a POST to `/mcp`.
 *
 * Faults inside the arguments of a tool call are handed on, to be answered as a tool error that names
 * the argument. Everywhere else they refuse the whole body: a number or key that JavaScript would change
 * in the envelope cannot be answered truthfully. Throws `BodyError`.
 */
export function parseBody(bytes: Buffer): Body {
  const text = decode(bytes);
  const parsed = parse(text);
  const batch = Array.isArray(parsed);
  const messages: unknown[] = batch ? parsed : [parsed];
  if (messages.length > MAX_BATCH) {
    throw new BodyError(`Send at most ${MAX_BATCH} messages in a batch.`, {
      status: 400,
      code: INVALID_REQUEST,
    });
  }
  const faults = scanJson(text, relevant(messages, batch));
  if (!batch) return { batch, messages: [incoming(parsed, faults)] };
  return {
    batch,
    messages: messages.map((message, index) =>
      incoming(
        message,
        faults.filter((fault) => fault.path[0] === index).map((fault) => under(fault, 1)),
      ),
    ),
  };
}

/**
 * Which faults matter: of the arguments of each call enough to name them, whatever was wrong before; elsewhere the
 * first, since it refuses the body. Key order means nothing there.
 */
function relevant(messages: readonly unknown[], batch: boolean): Keep {
  const left = messages.map(() => MAX_FAULTS);
  let envelope = 1;
  return (kind, start) => {
    const index = batch ? Number(start[0]) : 0;
    if (isInArguments(messages[index], batch ? start.slice(1) : start)) {
      const more = left[index] ?? 0;
      left[index] = more - 1;
      return more > 0;
    }
    return kind !== "order" && envelope-- > 0;
  };
}

function decode(bytes: Buffer): string {
  try {
    // Lenient decoding would put U+FFFD where the client sent something else.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new BodyError("The request body is not valid UTF-8.", { ...UNREADABLE, cause: error });
  }
}

function parse(text: string): unknown {
  if (text.trim() === "") {
    throw new BodyError("The request body is empty; send one JSON-RPC message.", UNREADABLE);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BodyError("The request body is not valid JSON.", { ...UNREADABLE, cause: error });
  }
}

function incoming(message: unknown, faults: readonly Fault[]): Incoming {
  const refusing = faults.find(({ path }) => !isInArguments(message, path));
  if (refusing !== undefined) refuse(refusing, message);
  return { message, faults: faults.map((fault) => under(fault, 2)) };
}

function isInArguments(message: unknown, path: Fault["path"]): boolean {
  const call = isObject(message) && message.method === "tools/call";
  return call && path.length > 2 && path[0] === "params" && path[1] === "arguments";
}

function under(fault: Fault, levels: number): Fault {
  return { ...fault, path: fault.path.slice(levels) };
}

function refuse(fault: Fault, message: unknown): never {
  // An id that is itself the fault reads as another one: it cannot be echoed.
  const id = fault.path[0] === "id" ? null : idOf(message);
  throw new BodyError(describeFault(fault), { status: 400, code: INVALID_REQUEST, id });
}
