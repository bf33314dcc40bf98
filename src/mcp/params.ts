import { specTypeSchemas } from "@modelcontextprotocol/server";
import { pathText } from "../json-faults.ts";
import type { Incoming } from "./json.ts";
import { isObject } from "./rpc.ts";

/** The SDK checks these too, but answers a fault as an internal error (-32603) or with its validator's dump. */
const REQUESTS = {
  "tools/list": specTypeSchemas.ListToolsRequest,
  "tools/call": specTypeSchemas.CallToolRequest,
  "resources/list": specTypeSchemas.ListResourcesRequest,
  "resources/templates/list": specTypeSchemas.ListResourceTemplatesRequest,
  "resources/read": specTypeSchemas.ReadResourceRequest,
  "prompts/list": specTypeSchemas.ListPromptsRequest,
  "prompts/get": specTypeSchemas.GetPromptRequest,
  "completion/complete": specTypeSchemas.CompleteRequest,
} as const;
/** Revision 2026-07-28 has no handshake: there it is an unknown method, whatever its params. */
const LEGACY_REQUESTS = { ...REQUESTS, initialize: specTypeSchemas.InitializeRequest } as const;

/** What is wrong with the params of a request, in a sentence; `undefined` where nothing is. */
export function problemOfParams(message: unknown, era: "legacy" | "modern"): string | undefined {
  if (!isObject(message) || typeof message.method !== "string") return undefined;
  const requests = era === "legacy" ? LEGACY_REQUESTS : REQUESTS;
  if (!Object.hasOwn(requests, message.method)) return undefined;
  const schema = requests[message.method as keyof typeof REQUESTS];
  const result = schema["~standard"].validate(message);
  if (result instanceof Promise) return undefined;
  const issue = result.issues?.[0];
  if (issue === undefined) return undefined;
  const path = issue.path?.map((part) => (typeof part === "object" ? part.key : part)) ?? [];
  return `Invalid params: ${pathText(path)}: ${issue.message}.`;
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
