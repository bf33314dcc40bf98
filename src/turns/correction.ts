/** A correction comes while the answer is still on the screen. */
const CORRECTION_WINDOW_MS = 60_000;

/** When an answer was given that a message of this time may correct, both ends included. */
export function correctable(sentAt: Date): { from: Date; to: Date } {
  return { from: new Date(sentAt.getTime() - CORRECTION_WINDOW_MS), to: sentAt };
}

/** What people say before they object, and what says nothing of whether they do. */
const POLITE =
  /^(?:hi|hello|hey|oh|ah|uh|um|hmm+|euh|well|ok|okay|sorry|pardon|excuse me|excusez moi|desolee?|please|pls|s'il (?:te|vous) plait|stp|svp|bonjour|salut|ben|bah|bon|mais|but)(?![\w'-])/;
const THANKS =
  /^(?:thanks(?: a lot| so much)?|thank you(?: so much)?|thx|merci(?: beaucoup)?)(?![\w'-])/;

/**
 * How a correction opens. "no" and its like also open refusals and reassurances, which `harmless` takes out by what
 * follows them.
 */
const OPENERS: readonly { readonly opener: RegExp; readonly harmless?: RegExp }[] = [
  {
    opener: /^(?:no+|nope|nah)(?![\w'-])/,
    harmless:
      /^(?:problems?|probs|worr(?:y|ies)|thanks|thank you|thx|need|rush|hurry|doubt|idea|clue|way|one|body|matter|big deal|biggie|stress|sweat|pressure|offense|kidding|news|comment|complaints?|objections?|(?:more|further|other) \w+|(?:it's|it is|that's|that is|i'm|im|we're)? ?(?:all )?(?:fine|ok|okay|good|great|all|it|cool)(?:$| thanks| thank| for))/,
  },
  {
    opener: /^non(?![\w'-])/,
    harmless:
      /^(?:merci|rien|pas de (?:souci|soucis|probleme|problemes)|aucun|c'est (?:bon|tout|parfait|gentil|ok)|ca (?:va|ira)|tout va bien)/,
  },
  {
    opener: /^not(?![\w'-])/,
    harmless:
      /^(?:bad|yet|now|today|sure|much|really|necessarily|needed|long|too (?:bad|much)|a (?:problem|bad)|that (?:i know|bad)|to worry|only|everyone|everybody|many|for now)(?![\w'-])/,
  },
  {
    opener: /^pas(?![\w'-])/,
    harmless:
      /^(?:mal|encore|maintenant|besoin|la peine|grave|sur|sure|vraiment|trop|forcement|aujourd'hui|de (?:souci|soucis|probleme|problemes|quoi|panique|stress)|pour (?:le moment|l'instant)|tout de suite|que je sache)(?![\w'-])/,
  },
  {
    opener:
      /^(?:actually|wrong|incorrect|rather|correction|that's not|thats not|that is not|that isn't|that's (?:wrong|incorrect|false)|this is (?:not|wrong)|it's not|it is not|it isn't|it's wrong|i meant|i mean|i said|i didn't (?:say|mean)|i never said|i am not|i'm not|you're wrong|you are wrong|you misunderstood|you got (?:it|that|me) wrong)(?![\w'-])/,
    harmless: /^(?:sure|bad|a (?:problem|bad)|necessary|yet|too bad)(?![\w'-])/,
  },
  {
    opener:
      /^(?:nan|plutot|en fait|au contraire|pas du tout|je voulais dire|je veux dire|j'ai dit|je n'ai (?:pas|jamais) dit|c'est faux|c'est pas|ce n'est pas|c'etait pas|ce n'etait pas|faux|erreur|rectification|tu te trompes|vous vous trompez|tu t'es trompee?|vous vous etes trompee?s?|tu as mal compris|vous avez mal compris)(?![\w'-])/,
    harmless:
      /^(?:grave|mal|la peine|un probleme|sur|sure|encore|urgent|presse|necessaire|merci)(?![\w'-])/,
  },
];

/**
 * Whether a message opens like a correction of what was just said, in English or French: "Non, plutôt mardi", never
 * "non merci" or "no problem". Case, accents, punctuation and a polite first word do not matter.
 */
export function opensLikeCorrection(text: string | null): boolean {
  let rest = plain(text ?? "");
  let thanked = false;
  for (;;) {
    const [polite = ""] = POLITE.exec(rest) ?? THANKS.exec(rest) ?? [];
    if (polite === "") break;
    thanked ||= THANKS.test(rest);
    rest = rest.slice(polite.length).trimStart();
  }
  return OPENERS.some(({ opener, harmless }) => {
    const said = opener.exec(rest)?.[0];
    if (said === undefined) return false;
    const after = rest.slice(said.length).trimStart();
    // "Merci, non." declines.
    if (after === "") return !thanked;
    return !harmless?.test(after);
  });
}

/** Lower case without accents; words one space apart, with their apostrophes and hyphens and nothing else. */
function plain(text: string): string {
  return text
    .slice(0, 200)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/[’ʼ‘`´]/g, "'")
    .replace(/[\u2010\u2011]/g, "-")
    .replace(/(?:^|\s)-+|-+(?=\s|$)|--+/g, " ")
    .replace(/[^\p{L}\p{N}'-]+/gu, " ")
    .trim();
}
