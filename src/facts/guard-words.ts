/** Words that carry no claim of their own: articles, forms of "be" and "have", prepositions that go with any verb. */
export const FUNCTION_WORDS = set(`
  a an one the is are am be been being do does have has having it its this that these those there here
  who which whose what where as of in on at for with to by into and so also really just then some any
  user users made together various several doing
  le la les l un une des du de d au aux est sont suis es et être ont ai as ce cet cette ces c il y en dans sur pour
  avec à par qui que qu dont se s aussi utilisateur utilisatrice plusieurs quelques`);

/** Of what follows there is one. */
export const ONE = set("a an one un une");

/** Whose deed or thing it is. One person in place of another is another claim. */
export const PERSONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    i: "1",
    me: "1",
    my: "1",
    mine: "1",
    we: "1+",
    us: "1+",
    our: "1+",
    you: "2",
    your: "2",
    yours: "2",
    he: "m",
    him: "m",
    his: "m",
    she: "f",
    her: "f",
    hers: "f",
    they: "3+",
    them: "3+",
    their: "3+",
    je: "1",
    j: "1",
    moi: "1",
    mon: "1",
    ma: "1",
    mes: "1",
    nous: "1+",
    notre: "1+",
    nos: "1+",
    tu: "2",
    toi: "2",
    ton: "2",
    ta: "2",
    tes: "2",
    vous: "2",
    votre: "2",
    vos: "2",
    elle: "f",
    lui: "m",
    eux: "3+",
    leur: "3+",
    leurs: "3+",
  }),
);

/** One is as good as another: what counts is how many there are, and before which words. */
export const NEGATIONS = set(`
  not no never none nobody nothing neither nor nowhere without cannot cant dont doesnt didnt isnt arent wasnt werent
  wont wouldnt couldnt shouldnt hasnt havent aint
  pas jamais aucun aucune rien personne ni sans non
  nicht kein keine keinen nie niemals ohne niet geen nooit nunca nada sin mai senza não nem inte ikke nie`);

/**
 * Words that turn a claim when they are added or taken away: quantity, degree, condition, time, possibility, direction.
 * English and French.
 */
export const OPERATORS = set(`
  all every everyone everything each both most many much few only always sometimes often usually rarely seldom
  very highly extremely slightly severely mildly somewhat quite très
  hardly barely scarcely almost nearly mostly partly mainly half more less least fewer too enough
  or but except unless if when while until since before after instead rather versus
  was were had did used will shall would could should may might must can maybe perhaps possibly probably likely unlikely
  former formerly previously longer anymore already yet still soon now currently again recently ago next last new old
  want wants wanted plan plans planned hope hopes try tries trying stop stops stopped quit fail fails failed failing
  from out off away outside inside under over above below behind against up down left right back near far
  anti ex false fake wrong despite cancel cancels cancelled canceled refuse refuses refused deny denies denied avoid avoids
  avoided lack lacks lacked pretend pretends allegedly
  tous toutes tout chaque beaucoup peu seulement toujours parfois souvent rarement presque plutôt plus moins
  trop assez ou mais sauf si quand jusque depuis avant après était avait sera serait peut pourrait doit devrait
  ancien ancienne déjà encore bientôt maintenant veut voulait hors sous contre gauche droite`);

/** Words that put one thing in relation to another: what stands before them and after them must not change places. */
export const RELATIONS = set(
  "to from by than over before after of for into against de du à au aux par avant après que",
);

/** Marks a passive when "by" follows. */
export const BE = set("is are was were be been being am get gets got est sont était été être");

function set(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/u));
}
