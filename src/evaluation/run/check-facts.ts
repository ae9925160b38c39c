import { type CheckedClaim, checkAnswer } from '../../agent/citations/check-answer.ts';
import { claimedNumbersIn, quotesIn } from '../../agent/citations/claim-facts.ts';
import { evidenceOf } from '../../agent/citations/evidence.ts';
import { holdsNumber, isPartOfName } from '../../agent/citations/number-evidence.ts';
import { writtenWordsOf } from '../../agent/citations/plain-words.ts';
import { createSourceRegister } from '../../agent/citations/source-register.ts';
import { wordingOf } from '../../agent/citations/wording.ts';
import type { ConversationTurn } from '../../domain/conversation-turn.ts';
import type { RetrievedChunk } from '../../domain/retrieved-chunk.ts';
import type { CaseRun } from '../report/report-data.ts';

/** The sentences of an answer with their verdicts, and whether its quotes and numbers stand in what it cites. */
export function checkFacts({
  response,
  retrievals,
}: Pick<ConversationTurn, 'response' | 'retrievals'>): Pick<CaseRun, 'sentences' | 'quotes' | 'numbers'> {
  const sources = createSourceRegister();
  // In this order the session gave them their refs.
  for (const { chunks } of retrievals) for (const chunk of chunks) sources.register(chunk);
  const { claims } = checkAnswer(response.answer, sources);
  const facts = claims.map((claim) =>
    factsOf(
      claim,
      claim.refs.flatMap((ref) => sources.chunkOf(ref) ?? []),
    ),
  );
  return {
    sentences: claims.map(({ text, refs, verdict }) => ({ text, markers: refs, verdict })),
    quotes: tally(facts.flatMap(({ quotes }) => quotes)),
    numbers: tally(facts.flatMap(({ numbers }) => numbers)),
  };
}

function factsOf({ text }: CheckedClaim, cited: readonly RetrievedChunk[]) {
  if (cited.length === 0) return { quotes: [], numbers: [] };
  return {
    quotes: quotesIn(text).map((quote) =>
      cited.some((chunk) => wordingOf(chunk).holdsQuote(writtenWordsOf(quote))),
    ),
    numbers: claimedNumbersIn(text).map((number) =>
      cited.some((chunk) => {
        const { clauses, contextNumbers, haystack } = evidenceOf(chunk);
        const given = [...clauses.flatMap((clause) => clause.numbers), ...contextNumbers];
        return holdsNumber(given, number) || isPartOfName(text, number, haystack);
      }),
    ),
  };
}

function tally(held: readonly boolean[]): { total: number; held: number } {
  return { total: held.length, held: held.filter(Boolean).length };
}
