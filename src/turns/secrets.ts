/** Secrets of known shapes. `g`, because a text may hold several. */
const SHAPES: readonly RegExp[] = [
  // Private keys and certificates' keys.
  /-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY( BLOCK)?-----|$)/g,
  // JSON Web Tokens, signed or not.
  /\beyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?/g,
  // A password in an address.
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:[^\s/@]+@/gi,
  /\bBearer\s+[\w.~+/-]{16,}=*/gi,
  // API keys by their makers' prefixes: OpenAI, Anthropic, Stripe, GitHub, GitLab, Slack, npm, Hugging Face, SendGrid, ours.
  /\b(?:sk|pk|rk)[-_][\w-]{20,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|svr_|shp(?:at|ca|pa|ss)_|dop_v1_|whsec_)[\w-]{16,}/g,
  /\bxox[abeoprs]-[\w-]{10,}/g,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  // AWS, Google, Telegram bots.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\b\d{8,10}:[\w-]{35}\b/g,
];

/** Prefixes that survive when somebody spells a key with blanks or dashes; far too long to be words. */
const COMPACT_SHAPES =
  /(?:skant|skproj|sklive|sktest|rklive|ghp|githubpat|glpat|xox[bp]|AKIA|AIza|svr)(?=[A-Za-z]*\d)[A-Za-z0-9]{20,}|eyJhbGciOi[A-Za-z0-9]{10,}/;

const SECRET_NOUN =
  "(?:pass ?(?:word|code|phrase|wd)|pwd|mots? de passe|mdp|pin(?: code)?|code pin|otp|cvv2?|cvc2?|cryptogramme|one[- ]time (?:code|password)|(?:verification|confirmation|security|login|sms|2fa|access|door|gate|alarm|entry|entrance) code|code (?:de (?:verification|confirmation|securite|la porte|l'alarme)|d'(?:acces|entree)|secret|wifi)|digicode|(?:api|secret|private|licen[cs]e) key|cle (?:api|secrete|privee)|access token|seed phrase|recovery (?:code|phrase|key))";
/** Said outright: "my password is …", "mon mot de passe : …". */
const SAID = new RegExp(
  String.raw`\b${SECRET_NOUN}s?\b[^.!?\n]{0,30}?(?:\b(?:is|are|was|est|sont|c'est)\b|[:=→])\s*["'«“]?\s*\S+`,
  "gi",
);
/** The same without a verb, where a number follows: "PIN 4711". */
const SAID_SHORTLY = new RegExp(
  String.raw`\b${SECRET_NOUN}\b[\s#:"'-]{1,4}[A-Za-z]*\d[\w-]{2,}`,
  "gi",
);

/** A number as people write it: digits in groups. With a plus it is a phone's. */
const LONG_NUMBER = /(?<![\w+])\d(?:[ .\-\u00a0\u202f]{0,3}\d){12,18}(?!\w)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b/g;

/** Key parts that promise a secret whatever the value looks like, and such as do where the value is a code. */
const SECRET_PART =
  /^(?:password|passwd|pwd|passcode|passphrase|otp|cvv2?|cvc2?|mdp|credentials?|apikey)$/;
const CODE_PART = /^(?:pin|code|token|secret|key|digicode)$/;

/** Whether a text holds a credential, a card number or a bank account. Text alone, without what it belongs to. */
export function holdsSecret(text: string): boolean {
  if (redactSecrets(text) !== text) return true;
  return COMPACT_SHAPES.test(text.replace(/[\s\-_.·]+/g, ""));
}

/** Whether a fact would keep a secret: in its value, tags or reasoning, or by what its key says of the value. */
export function isSecretFact(fact: {
  readonly key: string;
  readonly value: unknown;
  readonly tags?: readonly string[] | undefined;
  readonly reasoning?: string | undefined;
}): boolean {
  const value = stringsOf(fact.value).join("\n");
  const parts = fact.key.split(/[._]/);
  if (parts.some((part) => SECRET_PART.test(part))) return true;
  if (parts.some((part) => CODE_PART.test(part)) && /^\W*(?=\S*\d)[\w-]{3,}\W*$/.test(value))
    return true;
  return [fact.key, value, ...(fact.tags ?? []), fact.reasoning ?? ""].some(holdsSecret);
}

/** The text with each secret replaced by `[secret]`. */
export function redactSecrets(text: string): string {
  let safe = text;
  for (const shape of SHAPES) safe = safe.replace(shape, "[secret]");
  safe = safe.replace(LONG_NUMBER, (number) => (isCard(number) ? "[secret]" : number));
  safe = safe.replace(IBAN, (account) => (isIban(account) ? "[secret]" : account));
  return replaceFolded(replaceFolded(safe, SAID), SAID_SHORTLY);
}

/** Replaces what matches in the text without accents. Accents are folded one for one, so that places stay. */
function replaceFolded(text: string, pattern: RegExp): string {
  const folded = Array.from(text, (character) => {
    const [base = character] = character.normalize("NFD");
    return base.length === character.length ? base : character;
  }).join("");
  let safe = "";
  let from = 0;
  for (const match of folded.replace(/’/g, "'").matchAll(pattern)) {
    safe += `${text.slice(from, match.index)}[secret]`;
    from = match.index + match[0].length;
  }
  return safe + text.slice(from);
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => [key, ...stringsOf(inner)]);
  }
  return [String(value)];
}

/** The Luhn check, for numbers that begin as cards do. One other number in ten would pass it too. */
function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, "");
  if (!/^[3-6]|^2[2-7]/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const doubled = Number(digit) * (place % 2 === 1 ? 2 : 1);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** The check of ISO 7064: rotated by four, letters as 10 to 35, the number leaves 1 when divided by 97. */
function isIban(text: string): boolean {
  const account = text.replace(/[ -]/g, "");
  if (account.length > 34) return false;
  const rotated = account.slice(4) + account.slice(0, 4);
  let rest = 0;
  for (const character of rotated) {
    const number = Number.parseInt(character, 36);
    rest = (rest * (number > 9 ? 100 : 10) + number) % 97;
  }
  return rest === 1;
}
