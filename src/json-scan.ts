/** Deepest nesting that is let through: 200 levels of a value, inside the six of a `store_memory` request in a batch. */
export const MAX_DEPTH = 206;
/** Enough to name what is wrong; a hostile body must not make the report as large as itself. */
export const MAX_FAULTS = 20;
/** In a batch a fault in an argument is told from others by its message, `params`, `arguments` and the argument. */
const START = 4;
const MAX_LITERAL = 40;

/**
 * Something in a JSON text that `JSON.parse` accepts although it cannot be kept as it is:
 * - `number`: JavaScript changes it (integers of 2^53 and beyond, `1e400`, `-0`, more digits than a double has);
 * - `duplicate`: the object already had this key;
 * - `order`: a key like "10" that JavaScript moves to the front;
 * - `text`: U+0000 or half of a surrogate pair in a string or key, which neither a database nor UTF-8 can hold;
 * - `depth`: nesting beyond `MAX_DEPTH`; what lies deeper is not reported.
 */
export interface Fault {
  readonly kind: "number" | "duplicate" | "order" | "text" | "depth";
  readonly path: readonly (string | number)[];
  /** `number`: the literal as it was sent, clipped. */
  readonly literal?: string;
}

/**
 * Whether a fault goes into the report. `start` is the first four steps of its path: a hostile body may hold a million
 * faults, each two hundred levels deep.
 */
export type Keep = (kind: Fault["kind"], start: Fault["path"]) => boolean;

interface ObjectFrame {
  readonly keys: Set<string>;
  key: string;
  /** Keys that JavaScript keeps in writing order began; an integer key after them would be moved. */
  ordered: boolean;
  lastIndex: number;
}
interface ArrayFrame {
  readonly keys: undefined;
  index: number;
}
type Frame = ObjectFrame | ArrayFrame;

/**
 * Finds what JavaScript would change in `text`, which must be valid JSON (parse it first).
 * One pass to the very end, no recursion: 100,000 nested arrays cost a fault, not the stack.
 *
 * @param keep chooses what is reported; default: the first 20 faults, enough where one of them refuses the whole text
 */
export function scanJson(text: string, keep: Keep = first(MAX_FAULTS)): Fault[] {
  const faults: Fault[] = [];
  const stack: Frame[] = [];
  let top: Frame | undefined;
  let expectsKey = false;

  const report = (kind: Fault["kind"], literal?: string): void => {
    if (!keep(kind, stack.slice(0, START).map(step))) return;
    const path = stack.map(step);
    faults.push(literal === undefined ? { kind, path } : { kind, path, literal: clip(literal) });
  };

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        if (stack.length === MAX_DEPTH) {
          report("depth");
          at = endOfNesting(text, at);
          break;
        }
        expectsKey = text[at] === "{";
        top = expectsKey
          ? { keys: new Set(), key: "", ordered: false, lastIndex: -1 }
          : { keys: undefined, index: 0 };
        stack.push(top);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        stack.pop();
        top = stack.at(-1);
        expectsKey = false;
        break;
      case 0x2c: // ,
        if (top === undefined) break;
        if (top.keys === undefined) top.index++;
        else expectsKey = true;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        if (expectsKey && top?.keys !== undefined) {
          const kind = enterKey(top, keyOf(text, at, end));
          if (kind !== undefined) report(kind);
          expectsKey = false;
        }
        if (!storable(text, at, end)) report("text");
        at = end;
        break;
      }
      case 0x2d: // -
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33:
      case 0x34:
      case 0x35:
      case 0x36:
      case 0x37:
      case 0x38:
      case 0x39: {
        const end = endOfNumber(text, at);
        const literal = text.slice(at, end);
        if (!survives(literal)) report("number", literal);
        at = end - 1;
        break;
      }
      default:
    }
  }
  return faults;
}

function first(faults: number): Keep {
  let left = faults;
  return () => left-- > 0;
}

function step(frame: Frame): string | number {
  return frame.keys === undefined ? frame.index : frame.key;
}

function enterKey(frame: ObjectFrame, key: string): "duplicate" | "order" | undefined {
  frame.key = key;
  if (frame.keys.has(key)) return "duplicate";
  frame.keys.add(key);
  if (!isArrayIndex(key)) {
    frame.ordered = true;
    return undefined;
  }
  const index = Number(key);
  if (frame.ordered || index < frame.lastIndex) return "order";
  frame.lastIndex = index;
  return undefined;
}

/** The keys that JavaScript sorts by value and puts before all others: "0" … "4294967294". */
function isArrayIndex(key: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
}

/** Index of the bracket that closes the one at `start`. */
function endOfNesting(text: string, start: number): number {
  let open = 0;
  for (let at = start; ; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x7b || code === 0x5b) open++;
    else if ((code === 0x7d || code === 0x5d) && --open === 0) return at;
  }
}

/** Index of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const quote = text.indexOf('"', at);
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return quote;
    at = quote;
  }
}

function keyOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes("\\") ? (JSON.parse(text.slice(start, end + 1)) as string) : raw;
}

/** Valid JSON in valid UTF-8 can hold U+0000 and half a pair only as an escape. */
function storable(text: string, start: number, end: number): boolean {
  const raw = text.slice(start, end + 1);
  if (!/\\u(?:0000|[dD][89a-fA-F])/.test(raw)) return true;
  const value = JSON.parse(raw) as string;
  return value.isWellFormed() && !value.includes("\u0000");
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && /[\d.eE+-]/.test(text.charAt(end))) end++;
  return end;
}

/** Whether a number literal means the same after JavaScript read and printed it. */
function survives(literal: string): boolean {
  // Most numbers are short integers: neither a sign of zero nor a digit can be lost.
  if (/^(?:0|-?[1-9]\d{0,14})$/.test(literal)) return true;
  const value = Number(literal);
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  // Some ids beyond 2^53 would come back whole, their neighbours would not: none is taken.
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(value)) return false;
  const printed = String(value);
  return printed === literal || decimal(literal) === decimal(printed);
}

/** Canonical form of a decimal: sign, digits without outer zeros, and the exponent of the last digit. */
function decimal(literal: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return "0";
  return `${sign}${digits}e${Number(exponent) - fraction.length + (all.length - digits.length)}`;
}

function clip(literal: string): string {
  return literal.length <= MAX_LITERAL ? literal : `${literal.slice(0, MAX_LITERAL)}…`;
}
