import type { FastifyInstance } from "fastify";
import type { Sending } from "../chat/sending.ts";
import type { ChatService } from "../chat/service.ts";
import { AppError } from "../errors.ts";
import type { FactService } from "../facts/service.ts";
import type { KvService } from "../kv/service.ts";
import type { LinkCodes } from "../links/codes.ts";
import type { RecallService } from "../recall/service.ts";
import type { Approval } from "../users/approval.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { type McpOptions, mountMcp } from "./mount.ts";
import { registerPrompts } from "./prompts.ts";
import { registerResources } from "./resources.ts";
import type { Tool } from "./tool.ts";
import { archiveTurn } from "./tools/archive-turn.ts";
import { forgetFact } from "./tools/forget-fact.ts";
import { forgetMemory } from "./tools/forget-memory.ts";
import { getChatHistory } from "./tools/get-chat-history.ts";
import { getUserContext } from "./tools/get-user-context.ts";
import { linkIdentity } from "./tools/link-identity.ts";
import { recall } from "./tools/recall.ts";
import { rememberFact } from "./tools/remember-fact.ts";
import { sendImage } from "./tools/send-image.ts";
import { sendMessage } from "./tools/send-message.ts";
import { setUserStatus } from "./tools/set-user-status.ts";
import { storeMemory } from "./tools/store-memory.ts";
import { updateMemory } from "./tools/update-memory.ts";

export interface McpServices {
  readonly kv: KvService;
  readonly chat: ChatService;
  readonly facts: FactService;
  readonly recall: RecallService;
  readonly codes: LinkCodes;
  readonly approval: Approval;
  readonly sending: Sending;
}

interface SouvenirMcpOptions
  extends Pick<McpOptions, "authenticate" | "charge" | "allowedHosts" | "version"> {
  readonly services: McpServices;
  /** Whether the server has a channel account that can send. */
  readonly canSend: () => boolean;
  /** Told of every call that reached its tool: `ok` or the error's code. */
  readonly onToolCall: (tool: string, outcome: string) => void;
}

/** What Souvenir offers over MCP, in the order in which clients see it. */
export function toolsOf(services: McpServices, canSend: () => boolean): Tool[] {
  const { kv, chat, facts, recall: recallService, sending, codes, approval } = services;
  return [
    getUserContext(chat),
    recall(recallService),
    rememberFact(facts),
    forgetFact(facts),
    updateMemory(kv),
    storeMemory(kv),
    forgetMemory(kv),
    getChatHistory(chat),
    archiveTurn(chat),
    { ...sendMessage(sending), isOffered: canSend },
    { ...sendImage(sending), isOffered: canSend },
    linkIdentity(codes),
    setUserStatus(approval),
  ];
}

export async function mountSouvenir(
  app: FastifyInstance,
  { services, canSend, onToolCall, ...options }: SouvenirMcpOptions,
): Promise<void> {
  await mountMcp(app, {
    ...options,
    name: "souvenir",
    instructions: INSTRUCTIONS,
    tools: toolsOf(services, canSend).map((tool) => counted(tool, onToolCall)),
    describe(server, surface) {
      registerResources(server, surface, services);
      registerPrompts(server, surface, services.recall);
    },
  });
}

function counted(tool: Tool, onToolCall: SouvenirMcpOptions["onToolCall"]): Tool {
  return {
    ...tool,
    async handle(input, context) {
      try {
        const answer = await tool.handle(input, context);
        onToolCall(tool.name, "ok");
        return answer;
      } catch (error) {
        onToolCall(tool.name, error instanceof AppError ? error.code : "INTERNAL");
        throw error;
      }
    },
  };
}
