import { GrammyError, HttpError } from "grammy";
import { SendFailure } from "../chat/sender.ts";

/** The connection was never there, so the request was not sent. */
const NEVER_CONNECTED = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];

/**
 * Says why Telegram did not take a message. Of the errors themselves nothing is passed on: one holds the text, the other
 * the bot's token.
 */
export function failureOf(error: unknown, isDirect: boolean): SendFailure {
  if (error instanceof GrammyError) return refusalOf(error, isDirect);
  if (!(error instanceof HttpError)) throw error;
  const cause = error.error;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  if (NEVER_CONNECTED.includes(String(code)))
    return new SendFailure("UNAVAILABLE", "Telegram cannot be reached: nothing was sent");
  return new SendFailure(
    "UNAVAILABLE",
    "Telegram did not answer: it is unknown whether this was sent, and sending it again may double it",
    { isCertain: false },
  );
}

function refusalOf({ error_code, description, parameters }: GrammyError, isDirect: boolean) {
  const said = withoutContents(description);
  switch (error_code) {
    case 400:
      return new SendFailure("INVALID_INPUT", `Telegram refused it: ${said}`);
    case 403:
      return new SendFailure("CONFLICT", `nothing can be sent there: ${said}`, {
        isUnreachable: isDirect,
      });
    case 401:
    case 404:
      return new SendFailure("UNAVAILABLE", "Telegram does not know the bot's token");
    case 429:
      return new SendFailure(
        "RATE_LIMITED",
        `Telegram takes no more messages for ${parameters.retry_after ?? 1} s: nothing was sent`,
      );
    default:
      return new SendFailure(
        "UNAVAILABLE",
        "Telegram had a fault of its own: it is unknown whether this was sent",
        { isCertain: false },
      );
  }
}

/** Telegram's sentences quote names of tags, addresses and the like: what they quote is cut out. */
function withoutContents(description: string): string {
  return description
    .replace(/^(?:Bad Request|Forbidden): /, "")
    .replaceAll(/"[^"]*"?|'[^']*\s[^']*'|\S*(?:\/\/|@)\S*/g, "…")
    .replaceAll(/[^\x20-\x7E…]/g, "")
    .slice(0, 160);
}
