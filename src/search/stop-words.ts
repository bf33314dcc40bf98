/**
 * Words of English and French that say nothing about what is asked for, folded. No negation is among them: "not" changes
 * what a text means. Neither are words that tell something in the other language ("son", "car", "ton").
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a about above after again against all am an and any are as at be because been before being below between both but by",
    "can could did do does doing down during each few for from further had has have having he her here hers herself him",
    "himself his how i if in into is it its itself just me more most my myself now of off on once only or other our ours",
    "ourselves out over own same she should so some such than that the their theirs them themselves then there these they",
    "this those through to too under until up very was we were what when where which while who whom whose why will with",
    "would you your yours yourself yourselves s t d m ll re ve",
    "ai as au aux avec avez avons c ca ce cela ces cet cette comme d dans de des donc du elle elles en es est et etait ete",
    "etes etre eux il ils j je l la le les leur leurs lui ma mais mes moi mon nos notre nous ont ou par pour qu que quel",
    "quelle quelles quels qui sa se ses si sommes sont suis sur te tes toi tu un une vos votre vous y",
  ]
    .join(" ")
    .split(" "),
);
