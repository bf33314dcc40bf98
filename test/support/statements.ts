import { childrenOf, type Node, type SourceFile, type Unit, within } from "./sources.ts";

/** Stand in flattened SQL for a condition on the tenant, for the tenant's id, and for a table that a variable names. */
const CONDITION = "«tenant»";
const ORG = "«org»";
const TABLE = "«table»";
const IS_BOUND = /\borg_id\s*(?:=|in\b|is\b)|«tenant»/;

/**
 * Reads one file's statements, built ones and SQL texts. Each select, insert, update and delete has to name the tenant
 * itself, and so has each query in brackets within it: the outer one's condition does not bind the inner one.
 */
export class StatementReader {
  readonly #source: SourceFile;
  readonly #tables: ReadonlyMap<string, string>;
  /** Functions that return what names the tenant, and functions whose caller has to give it to them. */
  readonly #carriers = new Set<string>();
  readonly #open = new Set<string>();

  /** @param tables names in the database, by the names of the schema's exports */
  constructor(source: SourceFile, tables: ReadonlyMap<string, string>) {
    this.#source = source;
    this.#tables = tables;
    const functions = source.units.filter(({ isMethod }) => !isMethod);
    for (let size = -1; size !== this.#carriers.size; ) {
      size = this.#carriers.size;
      for (const { name, node } of functions) {
        if (this.#names(node, new Set())) this.#carriers.add(name);
      }
    }
    for (const unit of functions) {
      const takes = (node: Node) => this.#mentions(node, new Set(unit.parameters));
      const conditions = this.#chains(unit.node).flatMap(({ calls }) => calls.get("where") ?? []);
      if (conditions.some((node) => !this.#names(node, new Set()) && takes(node))) {
        this.#open.add(unit.name);
      }
    }
  }

  /** The statements that say nowhere whose rows they mean, as e.g. `kv/repository.ts upsert: from memory_kv`. */
  bare(): string[] {
    return this.#source.units.flatMap((unit) => {
      const locals = this.#locals(unit);
      const places = [
        ...this.#bareChains(unit, locals),
        ...this.#bareTexts(unit, locals),
        ...this.#bareCalls(unit, locals),
      ];
      return [...new Set(places)].map((place) => `${this.#source.file} ${unit.name}: ${place}`);
    });
  }

  #text({ start, end }: Node): string {
    return this.#source.text.slice(start, end);
  }

  /** Constants of a function that hold something with the tenant in it. */
  #locals(unit: Unit): Set<string> {
    const locals = new Set<string>();
    for (const node of within(unit.node)) {
      if (node.type !== "VariableDeclarator" || !node.init) continue;
      const { name } = node.id as { name?: string };
      if (name && this.#names(node.init as Node, locals)) locals.add(name);
    }
    return locals;
  }

  #mentions(node: Node, names: ReadonlySet<string>): boolean {
    return [...within(node)].some((at) => at.type === "Identifier" && names.has(String(at.name)));
  }

  /** Whether an expression says whose rows are meant: by `eq(….orgId, …)`, a value `orgId`, or what holds one. */
  #names(node: Node, locals: ReadonlySet<string>): boolean {
    if (node.type === "TaggedTemplateExpression") {
      return IS_BOUND.test(this.#flatten(node, locals, new Map()));
    }
    if (node.type === "MemberExpression") {
      // `table.orgId` is a column, `scope.orgId` a value; only what is compared with the column counts.
      return (
        isOrgId(node.property) &&
        !/table/i.test(this.#text(node.object as Node)) &&
        !this.#isTable(node.object as Node)
      );
    }
    if (node.type === "Identifier") return node.name === "orgId" || locals.has(String(node.name));
    if (node.type === "CallExpression") {
      const { name } = node.callee as { name?: string };
      if (name && this.#carriers.has(name)) return true;
    }
    if (node.type === "Property") return this.#names(node.value as Node, locals);
    // A query inside is a statement of its own.
    if (node.type === "ArrowFunctionExpression") return this.#names(node.body as Node, locals);
    return childrenOf(node).some((child) => this.#names(child, locals));
  }

  #isTable(node: Node): boolean {
    return node.type === "Identifier" && this.#tables.has(String(node.name));
  }

  /** Every `tx.select()…`, `tx.insert()…`, `tx.update()…`, `tx.delete()…` with the arguments of its calls. */
  #chains(root: Node): { verb: string; calls: Map<string, Node[]> }[] {
    const inner = new Set<Node>();
    const chains: { verb: string; calls: Map<string, Node[]> }[] = [];
    for (const node of within(root)) {
      if (node.type !== "CallExpression" || inner.has(node)) continue;
      const calls = new Map<string, Node[]>();
      let at: Node = node;
      while (at.type === "CallExpression" && (at.callee as Node).type === "MemberExpression") {
        inner.add(at);
        const callee = at.callee as Node;
        const name = String((callee.property as { name?: string }).name);
        calls.set(name, [...(calls.get(name) ?? []), ...(at.arguments as Node[])]);
        at = callee.object as Node;
      }
      const verb = [
        "select",
        "selectDistinct",
        "selectDistinctOn",
        "insert",
        "update",
        "delete",
      ].find((name) => calls.has(name));
      if (at.type === "Identifier" && at.name === "tx" && verb) {
        chains.push({ verb, calls });
      }
    }
    return chains;
  }

  #bareChains(unit: Unit, locals: ReadonlySet<string>): string[] {
    return this.#chains(unit.node).flatMap(({ verb, calls }) => {
      const [table] = calls.get("from") ?? calls.get(verb) ?? [];
      const conditions = (verb === "insert" ? calls.get("values") : calls.get("where")) ?? [];
      const named = conditions.some((condition) => this.#names(condition, locals));
      const given = !unit.isMethod && this.#open.has(unit.name);
      if (named || given) return [];
      return [`${verb} ${table ? this.#text(table) : "?"}`];
    });
  }

  /** Calls of functions of this file whose condition comes from the caller. */
  #bareCalls(unit: Unit, locals: ReadonlySet<string>): string[] {
    return [...within(unit.node)].flatMap((node) => {
      const { name } = (node.callee ?? {}) as { name?: string };
      if (node.type !== "CallExpression" || !name || !this.#open.has(name)) return [];
      const named = (node.arguments as Node[]).some((argument) => this.#names(argument, locals));
      return named ? [] : [`calls ${name}`];
    });
  }

  #bareTexts(unit: Unit, locals: ReadonlySet<string>): string[] {
    const texts = new Map<string, Node>();
    for (const node of within(unit.node)) {
      if (node.type === "VariableDeclarator" && node.init) {
        texts.set(String((node.id as { name?: string }).name), node.init as Node);
      }
    }
    return [...within(unit.node)]
      .filter((node) => node.type === "TaggedTemplateExpression")
      .flatMap((node) => this.#bareQueries(this.#flatten(node, locals, texts)));
  }

  /** The queries of a text that name a tenant's table and no tenant; each in brackets answers for itself. */
  #bareQueries(sql: string): string[] {
    const names = new Set([...this.#tables.values(), TABLE]);
    return levelsOf(sql).flatMap(({ text, whole }) =>
      [...text.matchAll(/\b(from|join|into|update)\s+(?:only\s+)?(\w+|«table»)/gi)]
        .filter(([, , name = ""]) => names.has(name))
        // An insert names it among its columns, which stand in brackets.
        .filter(([, verb]) => !(verb === "into" ? /\borg_id\b/.test(whole) : IS_BOUND.test(text)))
        .map(([, verb, name]) => `${verb} ${name}`),
    );
  }

  /** The SQL of a template, with what is put in as text where it is known. */
  #flatten(node: Node, locals: ReadonlySet<string>, texts: ReadonlyMap<string, Node>): string {
    const { quasis, expressions } = node.quasi as { quasis: Node[]; expressions: Node[] };
    return quasis
      .map((quasi, at) => {
        const { raw } = quasi.value as { raw: string };
        const expression = expressions[at];
        return expression ? raw + this.#put(expression, locals, texts) : raw;
      })
      .join("");
  }

  #put(node: Node, locals: ReadonlySet<string>, texts: ReadonlyMap<string, Node>): string {
    if (node.type === "TaggedTemplateExpression") return this.#flatten(node, locals, texts);
    if (node.type === "Identifier") {
      const known = texts.get(String(node.name));
      if (known?.type === "TaggedTemplateExpression") return this.#flatten(known, locals, texts);
      const table = this.#tables.get(String(node.name));
      if (table) return table;
      if (/table$/i.test(String(node.name))) return TABLE;
    }
    if (node.type === "MemberExpression" && isOrgId(node.property)) {
      return this.#names(node, locals) ? ORG : "org_id";
    }
    if (node.type === "Identifier" && node.name === "orgId") return ORG;
    return this.#names(node, locals) ? CONDITION : "«value»";
  }
}

function isOrgId(node: unknown): boolean {
  return (node as { name?: string }).name === "orgId";
}

interface Level {
  /** Without what stands in brackets. */
  readonly text: string;
  readonly whole: string;
}

function levelsOf(sql: string): Level[] {
  const levels: Level[] = [];
  const open: { text: string; start: number }[] = [{ text: "", start: 0 }];
  for (let at = 0; at < sql.length; at++) {
    const here = open[open.length - 1];
    if (sql[at] === "(") {
      if (here) here.text += "()";
      open.push({ text: "", start: at + 1 });
    } else if (sql[at] === ")" && open.length > 1) {
      const { text = "", start = 0 } = open.pop() ?? {};
      // Brackets around a condition belong to the query outside.
      if (/\b(?:select|insert|update|delete)\b/i.test(text)) {
        levels.push({ text, whole: sql.slice(start, at) });
      } else {
        const outer = open[open.length - 1];
        if (outer) outer.text += ` ${text} `;
      }
    } else if (here) here.text += sql[at];
  }
  return [...levels, { text: open[0]?.text ?? "", whole: sql }];
}
