import { z } from "zod";
import type { Incoming } from "./json.ts";
import { pathText } from "./json.ts";
import { isObject } from "./rpc.ts";

/** The SDK checks these too, but answers a fault as an internal error (-32603) with its validator's dump. */
const PARAMS: Readonly<Record<string, z.ZodType>> = {
  "tools/call": z.looseObject({
    name: z.string(),
    arguments: z.looseObject({}).nullish(),
  }),
  "resources/read": z.looseObject({ uri: z.string() }),
  "prompts/get": z.looseObject({
    name: z.string(),
    arguments: z.record(z.string(), z.string()).optional(),
  }),
  "completion/complete": z.looseObject({
    ref: z.union([
      z.looseObject({ type: z.literal("ref/prompt"), name: z.string() }),
      z.looseObject({ type: z.literal("ref/resource"), uri: z.string() }),
    ]),
    argument: z.looseObject({ name: z.string(), value: z.string() }),
  }),
};

/** What is wrong with the params of a request whose method has required ones; `undefined` where nothing is. */
export function problemOfParams(message: unknown): string | undefined {
  if (!isObject(message) || typeof message.method !== "string") return undefined;
  if (!Object.hasOwn(PARAMS, message.method)) return undefined;
  const result = PARAMS[message.method]?.safeParse(message.params ?? {});
  const issue = result?.error?.issues[0];
  return issue && `Invalid params: ${pathText(issue.path)}: ${issue.message}`;
}

/** The arguments of a tool call as the client sent them; none where there are none. */
export function sentArguments(message: unknown): Readonly<Record<string, unknown>> {
  const params = isObject(message) ? message.params : undefined;
  const sent = isObject(params) ? params.arguments : undefined;
  return isObject(sent) ? sent : {};
}

/** The message for the SDK: arguments that will be refused anyway stay behind, they may be nested without end. */
export function withArguments({ message, faults }: Incoming): unknown {
  if (!isObject(message) || !isObject(message.params)) return message;
  if (faults.length === 0 && message.params.arguments !== null) return message;
  return { ...message, params: { ...message.params, arguments: {} } };
}
