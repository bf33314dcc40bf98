import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Principal } from "../../access/principal.ts";
import type { ChatImport } from "../../chat/import.ts";
import { MessageImport } from "../../chat/imported.ts";
import type { FactImports } from "../../facts/import.ts";
import { FactImport } from "../../facts/imported.ts";
import { parse } from "./parse.ts";

/** 500 messages of the usual length, and room for some long ones. */
const BATCH_BYTES = 4 * 1024 * 1024;

export interface ImportServices {
  readonly messages: ChatImport;
  readonly facts: FactImports;
}

/** What was said and learned elsewhere, in batches: the command line reads the files. */
export function importRoutes(
  app: FastifyInstance,
  imports: ImportServices,
  by: (request: FastifyRequest) => Principal,
): void {
  const options = { bodyLimit: BATCH_BYTES };
  app.post("/v1/imports/messages", options, (request) =>
    imports.messages.messages(by(request), parse(MessageImport, request.body)),
  );
  app.post("/v1/imports/facts", options, (request) =>
    imports.facts.facts(by(request), parse(FactImport, request.body)),
  );
}
