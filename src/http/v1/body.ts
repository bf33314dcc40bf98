import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../errors.ts";
import { describeFault } from "../../json-faults.ts";
import { scanJson } from "../../json-scan.ts";

/** More would only bury the first one. */
const SHOWN_FAULTS = 5;

/**
 * Reads JSON bodies, and no others, as tools read their arguments: what JavaScript would change (numbers beyond its reach,
 * repeated keys, bytes that are not UTF-8) is refused by name, and `__proto__` is a key as any other.
 */
export function readJsonExactly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, bytes: Buffer) => readExactly(bytes),
  );
}

/** @returns undefined for an empty body @throws AppError INVALID_INPUT */
function readExactly(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable("the body is not valid UTF-8", error);
  }
  if (text.trim() === "") return undefined;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable("the body is not JSON", error);
  }
  // Text that cannot be stored is `parse`'s: an archive takes it.
  let room = SHOWN_FAULTS;
  const faults = scanJson(text, (kind) => kind !== "text" && room-- > 0);
  if (faults.length > 0) throw new AppError("INVALID_INPUT", faults.map(describeFault).join(" "));
  return value;
}

function unreadable(detail: string, cause: unknown): AppError {
  return new AppError("INVALID_INPUT", detail, { cause });
}

/** Leaves bodies as they came, whatever they say they are: a signature is over their own bytes (`bytesOf`). */
export function keepBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
}

/** The body of a request to a route with `keepBytes`; nothing where there was none. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
