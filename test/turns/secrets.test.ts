import { expect, test } from "vitest";
import { holdsSecret, isSecretFact, redactSecrets } from "../../src/turns/secrets.ts";

/** Made up, each with the shape and checksum of a real one; in parts, so that no scanner takes this file for a leak. */
const KEYS = [
  ["sk-ant-", "api03-", "Zk3vQ9xW2mN8pL5tR7yB4cD6fG1hJ0kS"],
  ["sk-", "proj-", "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"],
  ["sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"],
  ["gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a"],
  ["github_", "pat_", "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"],
  ["glpat", "-", "x8Kq2mZ7vN4pL9wR3tYb"],
  ["xo", "xb-", "123456789012-abcdefghij"],
  ["AK", "IA", "IOSFODNN7EXAMPLE"],
  ["AI", "za", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"],
  ["123456789", ":", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1"],
  ["eyJhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN"],
  ["postgres://", "shop:", "s3cr3t@db.example.com/shop"],
  ["Authorization: Bearer ", "abcdef", "0123456789abcdef"],
  ["-----BEGIN RSA ", "PRIVATE KEY-----", "\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"],
].map((parts) => parts.join(""));
const CARDS = [
  "4111111111111111",
  "4111 1111 1111 1111",
  "5500-0055-5555-5559",
  "3782 822463 10005",
];

test.each([
  ...KEYS,
  ...CARDS,
  "my card is 4111 1111 1111 1111, exp 12/29",
  "FR14 2004 1010 0505 0001 3M02 606",
  "DE89370400440532013000",
  "my password is hunter2",
  "My wifi password: correct horse battery staple",
  "password=hunter2",
  "the passphrase is four random words",
  "my PIN is 4711",
  "PIN 4711",
  "mon mot de passe est azerty",
  "le mot de passe, c'est azerty",
  "mdp: azerty123",
  "le code de la porte est 12B34",
  "code PIN : 4711",
  "the door code is 4512",
  "your verification code is 483920",
  "ton code de vérification est 483920",
  "CVV 123",
  "seed phrase: witch collapse practice feed shame open",
  "my seed phrase witch collapse practice feed shame open despair creek road again ice least",
  "password hunter2 for the wifi",
  "our wifi pass is swordfish",
  "le mot de passe hunter2 pour le wifi",
  "my card is 4111/1111/1111/1111",
  "my card is 4111_1111_1111_1111",
  "my card is 4111\n1111\n1111\n1111",
  "card_3782/822463/10005",
  "ma clé API est dans le fichier : abc",
])("%j is a secret", (text) => {
  expect(holdsSecret(text)).toBe(true);
  expect(redactSecrets(text)).toContain("[secret]");
});

test.each([
  ["a key spelt with blanks", `s k - a n t - ${[..."Zk3vQ9xW2mN8pL5tR7yB4cD6"].join(" ")}`],
  ["a key spelt with dashes", `sk-ant-${[..."Zk3vQ9xW2mN8pL5tR7yB4cD6"].join("-")}`],
  ["a card in other groups", "41 11 11 11 11 11 11 11"],
  ["a card with dots", "4111.1111.1111.1111"],
])("%s is a secret still", (_, text) => {
  expect(holdsSecret(text)).toBe(true);
});

test.each([
  "Ana likes green tea",
  "allergic to nuts, not vegetarian",
  "ask anything about the 20 risks you know of in 2026, 12345 times",
  "call me at +33 6 12 34 56 78",
  "+49 1512 3456789 is my number",
  "order 4111111111111112",
  "order number 1234567890123456",
  "1772359200000",
  "my postal code is 75011",
  "forgot my password yesterday",
  "wants two-factor codes by text message",
  "I keep losing my passwords",
  "uses a password manager",
  "password manager: 1Password",
  "my password manager is 1Password",
  "gestionnaire de mots de passe : Bitwarden",
  "I forgot my password",
  "wrote the seed phrase down on paper",
  "open from 2026/03/01 to 2027/03/01",
  "the promo code SUMMER is fine",
  "https://example.com/shop?page=2",
  "550e8400-e29b-41d4-a716-446655440000",
  "GB29 flight at 10:30",
  "meets Sam at 10:30 on 2026-03-01",
  "monkey business and a token gesture",
])("%j is none", (text) => {
  expect(holdsSecret(text)).toBe(false);
  expect(redactSecrets(text)).toBe(text);
});

test.each([
  ["the value", { key: "bank.card", value: "4111 1111 1111 1111" }],
  ["inside a value", { key: "bank.cards", value: { first: ["4111111111111111"] } }],
  ["a number as value", { key: "bank.card", value: 4111111111111111 }],
  ["the reasoning", { key: "work.tool", value: "uses an API", reasoning: `said ${KEYS[0]}` }],
  ["a tag", { key: "work.tool", value: "uses an API", tags: [KEYS[3] as string] }],
  ["the key's promise", { key: "wifi.password", value: "correct horse" }],
  ["a code under its key", { key: "home.door_code", value: "45B12" }],
  ...[
    "wifi.mot_de_passe",
    "mot_de_passe.wifi",
    "passwords.home",
    "wifi.pass",
    "wallet.passphrase",
    "wallet.seed_phrase",
    "github.recovery_codes",
    "phone.pin_code",
    "phone.pin",
    "bank.otp",
  ].map((key): [string, { key: string; value: unknown }] => [key, { key, value: "four words" }]),
  ["a value that names a seed phrase", { key: "wallet.note", value: "seed phrase witch collapse" }],
  ["a name inside the value", { key: "wifi.home", value: { password: "correct horse" } }],
  ["a card in pieces", { key: "bank.card", value: ["41111111", "11111111"] }],
  ["a card in an object", { key: "bank.x", value: { a: 4111, b: 1111, c: 1111, d: "1111" } }],
  ["codes in a list", { key: "home.codes", value: ["45B12", "77C13"] }],
  ["a PIN under its key", { key: "phone.pin", value: 4711 }],
])("a fact with a secret in %s is one", (_, fact) => {
  expect(isSecretFact(fact)).toBe(true);
});

test.each([
  { key: "likes.tea", value: "green" },
  { key: "style.dress_code", value: "casual" },
  { key: "watch.acme.token", value: "sells tokens" },
  { key: "home.city", value: "Lyon" },
  { key: "team.size", value: 12 },
  { key: "likes.pins", value: true },
  { key: "garden.seed", value: "tomato" },
  { key: "tools.password_manager", value: "1Password" },
  { key: "team.scores", value: [12, 13, 14] },
])("%j is an ordinary fact", (fact) => {
  expect(isSecretFact(fact)).toBe(false);
});

test("what surrounds a secret stays", () => {
  expect(redactSecrets(`I live in Lyon. Mon mot de passe est azerty. J'aime le thé.`)).toBe(
    "I live in Lyon. Mon [secret] J'aime le thé.",
  );
});

test.each([
  ["My passwords are hunter2 and swordfish9", "My [secret]"],
  ["My passwords are hunter2, swordfish9. I live in Lyon", "My [secret] I live in Lyon"],
  ["the passphrase is correct horse battery staple!\nThanks", "the [secret]\nThanks"],
  ["seed phrase: 1. witch 2. collapse 3. practice", "[secret]"],
  ["password hunter2 for the wifi", "[secret] for the wifi"],
])("of %j nothing secret is left", (text, safe) => {
  expect(redactSecrets(text)).toBe(safe);
});

test("a long text is read in reasonable time", () => {
  for (const text of [
    "1 ".repeat(50_000),
    "password ".repeat(10_000),
    "FR14 ".repeat(20_000),
    "seed phrase ".repeat(10_000),
    "password is ".repeat(10_000),
    "password: a".repeat(10_000),
    "1111/".repeat(20_000),
    "é".repeat(100_000),
  ]) {
    expect(redactSecrets(text).length).toBeGreaterThan(0);
  }
});
