import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { inputTools } from "./input-tools.ts";
import { embedded, picture, sound, textOf } from "./media.ts";

/** One tool of the conformance suite: none of them takes arguments that matter. */
export type FixtureTool = (context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

const plainTools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: async () => ({ content: [textOf("This is a simple text response.")] }),
  test_image_content: async () => ({ content: [picture] }),
  test_audio_content: async () => ({ content: [sound] }),
  test_embedded_resource: async () => ({
    content: [embedded("test://embedded-resource", "Embedded text.")],
  }),
  test_multiple_content_types: async () => ({
    content: [
      textOf("Several kinds:"),
      picture,
      embedded("test://mixed-content-resource", '{"test":"data"}', "application/json"),
    ],
  }),
  test_error_handling: async () => ({
    isError: true,
    content: [textOf("This tool intentionally returns an error for testing")],
  }),
  async test_tool_with_logging({ mcpReq }) {
    for (const data of ["started", "working", "done"]) {
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
    }
    return { content: [textOf("Logged three times.")] };
  },
  async test_tool_with_progress({ mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: progressToken ?? "", progress, total: 100 },
      });
    }
    return { content: [textOf(String(progressToken))] };
  },
  async test_logging_tool({ mcpReq }) {
    await mcpReq.log("info", "only for requests that ask for a log level");
    return { content: [textOf("Logged.")] };
  },
  test_streaming_elicitation: async () => ({ content: [textOf("Nothing to ask.")] }),
};

const tools = new Map(Object.entries({ ...plainTools, ...inputTools }));

export function serveTools({ server }: McpServer): void {
  server.registerCapabilities({ tools: {}, logging: {} });
  server.setRequestHandler("tools/list", () => ({
    tools: [...tools.keys()].map((name) => ({
      name,
      description: `Conformance fixture ${name}.`,
      inputSchema: { type: "object" as const },
    })),
  }));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    }
    return tool(context);
  });
}
