import type { z } from "zod";
import type { KeyRole, Pins, Principal } from "../access/principal.ts";

/** Which parameters the calling key fixes. Names only: a schema must not depend on a pinned value. */
export type PinShape = Readonly<Record<keyof Pins, boolean>>;

/** Who a server instance is built for; every key with the same view sees the same tools and schemas. */
export interface View {
  readonly role: KeyRole;
  readonly pins: PinShape;
}

interface ToolContext {
  readonly principal: Principal;
  /** Aborts when the client goes away or the server stops waiting for the call. */
  readonly signal: AbortSignal;
}

/**
 * One MCP tool.
 *
 * - `input` and `output`: `z.strictObject`s, with `z.unknown()` where any JSON value may stand (`z.json()` and
 *   `z.record()` rebuild the value and lose a `__proto__` key). Declare `userId`, `storeId` and `agentId` always:
 *   where the key pins one, it is taken out of the published schema and the pinned value is put in before
 *   validation. A function gets the names of the pinned parameters, for schemas that depend on them.
 * - `description`: for a model: what, when, when not, what comes back; < 1,000 characters.
 * - `archived`: parameters with the words of a chat, which U+0000 or half of a surrogate pair must not keep out of the
 *   archive: they reach the schema as sent, and it makes them storable. Everywhere else such text is refused.
 * - `alwaysLoad`: Claude loads the tool without a search.
 * - `minRole`: the tool is listed only for keys with that role; other callers get `FORBIDDEN`.
 * - `isOffered`: asked when the first request of a kind of key comes; false: the server has no such tool.
 * - `handle` throws `AppError` for what a caller can act on; anything else is logged and answered `INTERNAL`.
 *   Its result is sent as it is: `output` is published, never applied.
 */
export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I | ((pins: PinShape) => I);
  readonly output: O;
  readonly annotations:
    | { readonly readOnlyHint: true; readonly openWorldHint: boolean }
    | {
        readonly readOnlyHint: false;
        readonly destructiveHint: boolean;
        readonly idempotentHint: boolean;
        readonly openWorldHint: boolean;
      };
  readonly archived?: readonly string[];
  readonly alwaysLoad?: boolean;
  readonly minRole?: KeyRole;
  readonly isOffered?: () => boolean;
  handle(input: z.output<I>, context: ToolContext): Promise<z.output<O>>;
}

/** Infers the types of `handle` from the schemas, then forgets them, so that all tools fit into one list. */
export function defineTool<I extends z.ZodObject, O extends z.ZodObject>(tool: Tool<I, O>): Tool {
  return tool as unknown as Tool;
}

export function viewOf(principal: Principal): View {
  const { userId, storeId, agentId } = principal.pins;
  return {
    role: principal.role,
    pins: {
      userId: userId !== undefined,
      storeId: storeId !== undefined,
      agentId: agentId !== undefined,
    },
  };
}
