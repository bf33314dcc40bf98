import { Ajv2020 } from "ajv/dist/2020.js";
import type { OpenApi } from "../../src/http/v1/reference/openapi.ts";
import type { DescribedOperation } from "./operations.ts";

/** Says what of an answer is not as the server's description has it. */
export function answerFaults({
  components,
}: OpenApi): (operation: DescribedOperation, status: number, body: string) => string | undefined {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "api", components });
  return (operation, status, body) => {
    const answer = operation.responses[status];
    if (!answer) return `${status} is not described`;
    if ("$ref" in answer) return `${status} is a fault: ${body}`;
    if (!answer.content) return body === "" ? undefined : `a body where none is described: ${body}`;
    const { schema } = answer.content["application/json"] ?? {};
    if (!schema) return undefined;
    const own = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'));
    if (ajv.validate(own, JSON.parse(body))) return undefined;
    return `${ajv.errorsText(ajv.errors, { dataVar: "answer" })} in ${body.slice(0, 400)}`;
  };
}
