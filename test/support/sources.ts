import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vite";

export const src = join(import.meta.dirname, "../../src");

/** A node of the syntax tree, as ESTree names its fields. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A method, or a function that stands for itself. */
export interface Unit {
  readonly name: string;
  /** Its body. */
  readonly node: Node;
  readonly parameters: readonly string[];
  readonly isMethod: boolean;
}

export interface SourceFile {
  /** Below src. */
  readonly file: string;
  readonly text: string;
  readonly units: readonly Unit[];
}

/** The files of `src` whose text matches. */
export function sourcesWith(pattern: RegExp): SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .map((file) => ({ file, text: readFileSync(join(src, file), "utf8") }))
    .filter(({ text }) => pattern.test(text))
    .map(({ file, text }) => ({ file, text, units: unitsOf(text) }));
}

/** Methods of classes, and functions that stand for themselves. */
export function unitsOf(text: string): Unit[] {
  const root = parseAst(text, { lang: "ts" }) as unknown as Node;
  const units: Unit[] = [];
  const functions = [...within(root)].filter(
    ({ type }) => type.endsWith("FunctionExpression") || type === "FunctionDeclaration",
  );
  for (const node of within(root)) {
    if (node.type === "MethodDefinition") {
      const { type, name } = node.key as { type: string; name: string };
      units.push(
        unitOf(type === "PrivateIdentifier" ? `#${name}` : name, node.value as Node, true),
      );
    } else if (node.type === "FunctionDeclaration") {
      units.push(unitOf((node.id as { name: string }).name, node, false));
    } else if (node.type === "VariableDeclarator" && !isLocal(node, functions)) {
      const { name } = node.id as { name?: string };
      const init = node.init as Node | null;
      if (name && init?.type === "ArrowFunctionExpression") units.push(unitOf(name, init, false));
    }
  }
  return units;
}

function isLocal({ start }: Node, functions: readonly Node[]): boolean {
  return functions.some((outer) => outer.start < start && start < outer.end);
}

function unitOf(name: string, node: Node, isMethod: boolean): Unit {
  const parameters = (node.params as Node[])
    .flatMap((parameter) => [...within(parameter)])
    .filter(({ type }) => type === "Identifier")
    .map(({ name: parameter }) => String(parameter));
  return { name, node: node.body as Node, parameters, isMethod };
}

/** The node and all below it. */
export function* within(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* within(child);
}

export function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter(
      (value): value is Node => value !== null && typeof value === "object" && "type" in value,
    );
}
