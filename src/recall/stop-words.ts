/**
 * Words of English and French that say nothing about what is asked for, folded. No negation is among them: "not" changes
 * what a text means.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a an and are as at be been by did do does for from had has have he her him his how i if in is it its me my now of on",
    "or our she so than that the their them then there they this to was we were what when where which who whom whose why",
    "will with would you your s",
    "au aux avec c ce ces cet cette d dans de des du elle elles en est et il ils j je l la le les leur leurs lui ma mes moi",
    "mon nos notre nous on ou par pour qu que quel quelle quelles quels qui sa se ses son sont sur t ta te tes toi ton tu un",
    "une vos votre vous y",
  ]
    .join(" ")
    .split(" "),
);
