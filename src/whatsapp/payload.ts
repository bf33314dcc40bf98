import { cleanJson, isRecord } from "../chat/payload.ts";

/** What came before the number was connected and its owner's address book: other people's words and numbers, unasked. */
const UNASKED = new Set(["history", "state_sync"]);

/** What a message replies to or was forwarded from, without a word of it. */
const CONTEXT = ["id", "from", "from_user_id", "forwarded", "frequently_forwarded"];
const PRODUCT = ["catalog_id", "product_retailer_id"];
/** Far beyond any id of the platform. */
const MAX_ID = 256;

/** A delivery as it is kept: of what messages reply to only the ids. WhatsApp never sends file bytes. Never throws. */
export function cleanDelivery(body: unknown): unknown {
  return cleanJson(body, (key, value) => {
    if (UNASKED.has(key)) return "[removed]";
    return key === "context" ? contextOf(value) : undefined;
  });
}

function contextOf(value: unknown): object | null {
  if (!isRecord(value)) return null;
  const product = value.referred_product;
  const kept = pick(value, CONTEXT);
  return isRecord(product) ? { ...kept, referred_product: pick(product, PRODUCT) } : kept;
}

function pick(value: Record<string, unknown>, keys: readonly string[]): object {
  const kept = keys.filter((key) => {
    const field = value[key];
    const isId = typeof field === "string" && field.length <= MAX_ID;
    return typeof field === "boolean" || isId;
  });
  return cleanJson(Object.fromEntries(kept.map((key) => [key, value[key]]))) as object;
}

/** Files have an address that works for minutes, for whoever holds the token; their ids stay. */
export function withoutAddress(content: unknown): unknown {
  if (!isRecord(content) || !Object.hasOwn(content, "url")) return content;
  return { ...content, url: "[removed]" };
}
