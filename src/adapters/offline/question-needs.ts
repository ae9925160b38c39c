import { indexTerms, queryTerms } from '../../text/terms.ts';

const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|once|twice|daily|weekly|monthly|yearly|unlimited|none)\b/i;
const DATE =
  /\b(?:1\d{3}|20\d{2}|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/i;
const CODE = /```|~~~|`|(?<!\S)--?[a-z]|\w[_=./:]\w|\w\(/i;

/** What a question asks for, and what the text of an answer to it must then have. */
const NEEDS: readonly { asked: RegExp; needed: RegExp }[] = [
  {
    asked:
      /\bhow (?:many|much|long|old|far|often|big|tall|large|fast|deep|high|heavy)\b|\b(?:what|which) (?:percentage|number|size|limit)\b/i,
    needed: NUMBER,
  },
  { asked: /\b(?:what|which) port\b|\bport (?:number|of|does|is)\b/i, needed: /\b\d{2,5}\b/ },
  { asked: /\bwhen (?:was|were|did|will)\b|\b(?:what|which) (?:year|date|month)\b/i, needed: DATE },
  { asked: /\b(?:command|flag|snippet|syntax|code)\b/i, needed: CODE },
];

const COMPARISON =
  /\b(?:differences? (?:between|of)|compare) (.+?) (?:and|with|to|from) (.+)|(.+?) (?:vs\.?|versus|(?:differs?|different) from|better than) (.+)/i;

/** Whether a text has the kind of answer that a question asks for: a number, a date, code, or both compared things. */
export function meetsNeeds(question: string, text: string): boolean {
  if (NEEDS.some(({ asked, needed }) => asked.test(question) && !needed.test(text))) return false;
  const compared =
    COMPARISON.exec(question)
      ?.slice(1)
      .filter((thing) => thing !== undefined) ?? [];
  const terms = new Set(indexTerms(text));
  return compared.every((thing) => queryTerms(thing).some((term) => terms.has(term)));
}
