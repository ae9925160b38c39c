/** English words, contractions among them, that say nothing about what a question is about. They are indexed, but not searched for. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are as at be because been before being below
  between both but by can could did do does doing done down during each few for from further get gets got had
  has have having he her here hers him his how i if in into is it its itself just let like may me might more
  most much must my no nor not now of off on once only or other our ours out over own please same shall she
  should so some such tell than that the their theirs them then there these they this those through to too
  under until up us very was we were what when where which while who whom whose why will with would you your
  yours ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't i'd i'll i'm i've isn't shouldn't
  they'll they're they've wasn't we'll we're we've weren't won't wouldn't you'd you'll you're you've`.split(
    /\s+/,
  ),
);
