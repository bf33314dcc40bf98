import {
  acceptedContent,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { embedded, PNG, picture, textOf } from "./media.ts";

export function serveResources(server: McpServer): void {
  server.registerResource(
    "static-text",
    "test://static-text",
    { mimeType: "text/plain" },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: "Static text." }],
    }),
  );
  server.registerResource(
    "static-binary",
    "test://static-binary",
    { mimeType: "image/png" },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: "image/png", blob: PNG }],
    }),
  );
  server.registerResource(
    "watched",
    "test://watched-resource",
    { mimeType: "text/plain" },
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: "Watched text." }],
    }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "application/json",
          text: JSON.stringify({ id, data: `of ${id}` }),
        },
      ],
    }),
  );
  server.server.registerCapabilities({ resources: { subscribe: true } });
  server.server.setRequestHandler("resources/subscribe", () => ({}));
  server.server.setRequestHandler("resources/unsubscribe", () => ({}));
}

export function servePrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "Without arguments." }, () =>
    says(textOf("Simple.")),
  );
  server.registerPrompt(
    "test_prompt_with_arguments",
    {
      description: "With arguments.",
      argsSchema: z.object({ arg1: z.string(), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => says(textOf(`Arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => says(embedded(resourceUri, "Embedded text."), textOf("Read the above.")),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image." }, () =>
    says(picture, textOf("Look at the above.")),
  );
  server.registerPrompt(
    "test_input_required_result_prompt",
    { description: "Asks back." },
    (sent) => {
      // Without an argsSchema the context is the only argument; the SDK's types know the two-argument form only.
      const { mcpReq } = sent as unknown as ServerContext;
      const given = acceptedContent<{ context: string }>(mcpReq.inputResponses, "user_context");
      if (given !== undefined) return says(textOf(`Context: ${given.context}`));
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            message: "Which context?",
            requestedSchema: {
              type: "object",
              properties: { context: { type: "string" } },
              required: ["context"],
            },
          }),
        },
      });
    },
  );
  server.server.registerCapabilities({ completions: {} });
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
}

function says(...contents: (ReturnType<typeof textOf | typeof embedded> | typeof picture)[]) {
  return { messages: contents.map((content) => ({ role: "user" as const, content })) };
}
