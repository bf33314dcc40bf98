import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { isPublic, publicLookup, RefusedAddress } from "./address.ts";

interface Posting {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Only the server's own environment may name an address of the private network. */
  readonly mayBePrivate: boolean;
  readonly signal: AbortSignal;
}

/** What came of it: a status, or why there is none in words that may be shown. */
export type Posted =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly fault: string };

const TIMEOUT_MS = 15_000;
/** Of an answer nothing is used; a receiver that sends more is hung up on. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ERROR_CODE = /^[A-Z][A-Z0-9_]{1,60}$/;

/** Posts JSON once: follows no redirect, reads the answer and drops it. Never rejects. */
export async function post(posting: Posting): Promise<Posted> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await send(posting, AbortSignal.any([timeout, posting.signal]));
  } catch (error) {
    if (timeout.aborted) return { fault: `no answer within ${TIMEOUT_MS / 1000} s` };
    if (posting.signal.aborted) return { fault: "the server stopped" };
    return { fault: faultOf(error) };
  }
}

function send(posting: Posting, signal: AbortSignal): Promise<Posted> {
  const { headers, body, mayBePrivate } = posting;
  const url = new URL(posting.url);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // A literal address is connected to without a look-up.
  if (!mayBePrivate && isIP(host) !== 0 && !isPublic(host)) throw new RefusedAddress();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: "POST",
      headers: { ...headers, "content-length": Buffer.byteLength(body) },
      // A kept connection would not have its address looked at again, and may be one that another account made.
      agent: false,
      signal,
      ...(!mayBePrivate && { lookup: publicLookup }),
    });
    sent.on("error", reject);
    let isAnswered = false;
    // One that answers with another protocol (101) is closed without an error, and no time limit ends it then.
    sent.once("close", () => {
      if (!isAnswered) reject(new Error("closed without an answer"));
    });
    sent.once("response", (response) => {
      isAnswered = true;
      const retryAfter = response.headers["retry-after"];
      // The status says it all: what happens to the rest of the answer changes nothing.
      const done = () => resolve({ status: response.statusCode ?? 0, retryAfter });
      response.once("close", done).on("error", done);
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
    });
    sent.end(body);
  });
}

/** Names and codes only: a message may quote what the receiver said. */
function faultOf(error: unknown): string {
  if (error instanceof RefusedAddress) return error.message;
  // Where several addresses were tried, each has its error.
  const [first = error] = error instanceof AggregateError ? error.errors : [];
  const code: unknown = first instanceof Error && "code" in first ? first.code : undefined;
  return typeof code === "string" && ERROR_CODE.test(code)
    ? `no connection: ${code}`
    : "no connection";
}
