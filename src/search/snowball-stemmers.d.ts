declare module "snowball-stemmers" {
  export function newStemmer(language: "english" | "french"): { stem(word: string): string };
}
