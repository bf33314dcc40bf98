import type { z } from "zod";
import type { Pins } from "../access/principal.ts";
import { AppError } from "../errors.ts";
import { describeFault, pathText } from "../json-faults.ts";
import type { Fault } from "../json-scan.ts";
import { coerce } from "./coerce.ts";
import type { InputSchema, JsonSchema } from "./schema.ts";

/** More would only bury the first one. */
const MAX_PROBLEMS = 5;

/**
 * Checks the arguments of a tool call and puts in what the key pins. Throws `INVALID_INPUT` that names the parameter,
 * what was wrong with it and what to send instead.
 */
export function readArguments(
  schema: InputSchema,
  sent: Readonly<Record<string, unknown>>,
  faults: readonly Fault[],
  pins: Pins,
): Record<string, unknown> {
  const refused = faults.filter(({ kind, path }) => kind !== "text" || !isArchived(schema, path));
  if (refused.length > 0) throw invalid(refused.map(describeFault));
  refuseUnknown(schema, sent);
  const { value, problems } = coerce(schema.full, sent);
  if (problems.length > 0) throw invalid(problems);
  const pinned = Object.fromEntries(schema.pinned.map((name) => [name, pins[name]]));
  const result = schema.full.safeParse({ ...(value as object), ...pinned });
  if (result.success) return result.data;
  throw invalidBySchema(result.error.issues, value, schema.published);
}

function isArchived(schema: InputSchema, path: Fault["path"]): boolean {
  return path.length === 1 && schema.archived.includes(String(path[0]));
}

function refuseUnknown(schema: InputSchema, sent: Readonly<Record<string, unknown>>): void {
  const known = Object.keys(schema.published.properties);
  const unknown = Object.keys(sent).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw invalid(
    unknown.map((name) =>
      (schema.pinned as readonly string[]).includes(name)
        ? `${name}: unknown argument; this key is bound to one value of it and the server supplies it.`
        : `${pathText([name])}: unknown argument.`,
    ),
    known.length > 0 ? `Known arguments: ${known.join(", ")}.` : "This tool takes no arguments.",
  );
}

function invalid(problems: readonly string[], hint?: string): AppError {
  return new AppError(
    "INVALID_INPUT",
    problems.slice(0, MAX_PROBLEMS).join(" "),
    hint === undefined ? undefined : { hint },
  );
}

function invalidBySchema(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  published: JsonSchema,
): AppError {
  const { properties } = published;
  const names = new Set(issues.map((issue) => String(issue.path[0] ?? "")));
  const hints = [...names]
    .filter((name) => Object.hasOwn(properties, name))
    .map((name) => `${name}: ${expectation(properties[name])}`);
  return invalid(
    issues.map((issue) => {
      const place = issue.path.length === 0 ? "" : `${pathText(issue.path)}: `;
      return place + sentence(issue, value);
    }),
    hints.length > 0 ? hints.slice(0, MAX_PROBLEMS).join(" ") : undefined,
  );
}

function sentence(issue: z.core.$ZodIssue, value: unknown): string {
  // A rule of the tool's own says it better.
  if (issue.code !== "custom" && at(value, issue.path) === undefined) {
    return "missing; it is required.";
  }
  if (issue.code === "unrecognized_keys") {
    return `unknown ${issue.keys.map((key) => pathText([key])).join(", ")}.`;
  }
  return issue.message.endsWith(".") ? issue.message : `${issue.message}.`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

/** What a parameter takes, in the words of its published schema. */
function expectation(schema: unknown): string {
  const { description } = schema as { readonly description?: unknown };
  const text = typeof description === "string" ? `${description.replace(/\.$/, "")}. ` : "";
  const rules = JSON.stringify(schema, rule);
  const allowed = rules === "{}" ? "any JSON value" : rules;
  return `${text}Send ${allowed.length <= 300 ? allowed : `${allowed.slice(0, 300)}…`}.`;
}

/** Leaves out what refuses nothing. */
function rule(key: string, value: unknown): unknown {
  const isNote = key === "default" || (key === "description" && typeof value === "string");
  return isNote ? undefined : value;
}
