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

/** Words for a whole sequence of words: what names one is kept nowhere, whatever it goes on with. */
const PHRASE_NOUN =
  "(?:(?:seed|recovery|mnemonic|backup) (?:phrase|words)|pass ?phrase|phrase (?:de )?(?:recuperation|secrete|mnemonique|seed)|(?:recovery|backup) code)";
const SECRET_NOUN = `(?:${PHRASE_NOUN}|pass ?(?:word|code|phrase|wd)|pwd|mots? de passe|mdp|pin(?: code)?|code pin|otp|cvv2?|cvc2?|cryptogramme|one[- ]time (?:code|password)|(?:verification|confirmation|security|login|sms|2fa|access|door|gate|alarm|entry|entrance) code|code (?:de (?:verification|confirmation|securite|la porte|l'alarme)|d'(?:acces|entree)|secret|wifi)|digicode|(?:api|secret|private|licen[cs]e) key|(?:wi[- ]?fi|wlan|router|login) pass|cles? (?:api|secrete|privee)|access token|recovery key)`;
/** A password manager, a reset: the word, and no secret. */
const NAMED = String.raw`(?<!gestionnaires? de )\b${SECRET_NOUN}s?\b(?![ -]?(?:managers?|vaults?|resets?|polic(?:y|ies)|generators?|less|protected)\b)`;
/** To the end of the sentence or line: a secret may be several words, or several secrets. "1." numbers the words. */
const REST = String.raw`(?:\S+(?<!(?<!\b\d{1,2})[.!?])[^\S\n]+){0,23}\S+`;
/** Said outright: "my password is …", "mon mot de passe : …". */
const SAID = new RegExp(
  String.raw`${NAMED}[^.!?\n]{0,30}?(?:\b(?:is|are|was|were|est|sont|c'est)\b|[:=→])\s*${REST}`,
  "gi",
);
/** The same without a verb, where something with a digit follows: "PIN 4711". */
const SAID_SHORTLY = new RegExp(String.raw`${NAMED}[\s#:"'-]{1,4}(?=\S*\d)\S{3,}`, "gi");
/** A seed phrase's words: 12 or more, of 3 to 8 letters. */
const PHRASE = new RegExp(
  String.raw`\b${PHRASE_NOUN}s?\b[\s#:"'-]{1,4}(?:[a-z]{3,8}[\s,]{1,3}){11,23}[a-z]{3,8}\b`,
  "gi",
);

/** A number as people write it: digits in groups. With a plus it is a phone's. */
const LONG_NUMBER = /(?<![\w+])\d(?:[ .\-\u00a0\u202f]{0,3}\d){12,18}(?!\w)/g;
/** The groups that stand on a card, whatever is put between them. */
const CARD_GROUPS =
  /(?<!\d)\d{4}(?:[\s./_,;|·-]{1,3}\d{4}){3}(?!\d)|(?<!\d)\d{4}[\s./_,;|·-]{1,3}\d{6}[\s./_,;|·-]{1,3}\d{4,5}(?!\d)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b/g;

/** Keys, blanks between their parts, that promise a secret whatever the value looks like. */
const SECRET_KEY = new RegExp(
  String.raw`${NAMED}|\b(?:passwd|credentials?|apikey|(?:wallet|crypto) seed|mnemonic)\b`,
);
/** Key parts that promise one where the value is a code. */
const CODE_PART = /^(?:pin|code|token|secret|key|digicode)s?$/;
const CODE = /^\W*(?=\S*\d)[\w-]{3,}\W*$/;
const NAMES_PHRASE = new RegExp(String.raw`\b${PHRASE_NOUN}s?\b`, "i");

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
  const { names, leaves } = partsOf(fact.value);
  const keys = [fact.key, ...names].map((key) =>
    fold(key)
      .replace(/[._-]+/g, " ")
      .toLowerCase(),
  );
  // "Has a PIN: yes" gives nothing away.
  if (typeof fact.value !== "boolean" && keys.some((key) => SECRET_KEY.test(key))) return true;
  const isCode = fact.key.split(/[._]/).some((part) => CODE_PART.test(part));
  if (isCode && leaves.some((leaf) => CODE.test(leaf))) return true;
  const texts = [[...names, ...leaves].join("\n"), leaves.join(" "), ...(fact.tags ?? [])];
  texts.push(fact.key, fact.reasoning ?? "");
  return texts.some((text) => holdsSecret(text) || NAMES_PHRASE.test(fold(text)));
}

/** The text with each secret replaced by `[secret]`. */
export function redactSecrets(text: string): string {
  let safe = text;
  for (const shape of SHAPES) safe = safe.replace(shape, "[secret]");
  for (const numbers of [LONG_NUMBER, CARD_GROUPS])
    safe = safe.replace(numbers, (number) => (isCard(number) ? "[secret]" : number));
  safe = safe.replace(IBAN, (account) => (isIban(account) ? "[secret]" : account));
  for (const pattern of [SAID, PHRASE, SAID_SHORTLY]) safe = replaceFolded(safe, pattern);
  return safe;
}

/** Without accents and curly apostrophes, one for one, so that places stay. */
function fold(text: string): string {
  const folded = Array.from(text, (character) => {
    const [base = character] = character.normalize("NFD");
    return base.length === character.length ? base : character;
  }).join("");
  return folded.replace(/’/g, "'");
}

/** Replaces what matches in the folded text. */
function replaceFolded(text: string, pattern: RegExp): string {
  let safe = "";
  let from = 0;
  for (const match of fold(text).matchAll(pattern)) {
    safe += `${text.slice(from, match.index)}[secret]`;
    from = match.index + match[0].length;
  }
  return safe + text.slice(from);
}

/** The names of a value's members, and all that it holds. */
function partsOf(value: unknown): { readonly names: string[]; readonly leaves: string[] } {
  if (typeof value !== "object" || value === null) return { names: [], leaves: [String(value)] };
  const parts = Object.values(value).map(partsOf);
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return {
    names: [...own, ...parts.flatMap(({ names }) => names)],
    leaves: parts.flatMap(({ leaves }) => leaves),
  };
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
