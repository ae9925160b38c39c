import { type Advice, advice } from '../faults/advice.ts';
import type { AgentResponse } from './agent-response.ts';
import { OFFLINE_MODEL } from './choices.ts';

// Read by the pages too, which hold no schemas: nothing that has any is imported.

/** What came of a question, in one sentence that can be read by itself. */
interface Standing {
  said: Advice;
  /** Whether the answer is not what it should be: it is cut, or says what nothing bears out. */
  isFault: boolean;
}

/** Says that something follows, and nothing else. */
const LEADS_IN = /:\s*$/;

type Standings = Pick<
  AgentResponse,
  | 'outcome'
  | 'grounded'
  | 'citations'
  | 'sentences'
  | 'retrievalPerformed'
  | 'finishReason'
  | 'model'
  | 'checkedBy'
  | 'answerProbability'
>;

/**
 * How an answer stands to its sources and to the question. That it is in its sources does not mean that it answers, and
 * the closest passages are no failed answer: one sentence says which it is, and the verdicts the rest.
 */
export function standingOf(response: Standings): Standing {
  const { outcome, grounded, citations, retrievalPerformed, finishReason } = response;
  const fault = (why: string) => ({ said: advice`Not grounded: ${why}.`, isFault: true });
  const fine = (said: string) => ({ said: advice`${said}`, isFault: false });
  const isUnsearched = !retrievalPerformed && citations.length === 0;
  if (finishReason !== 'stop') return fault('the answer is not whole');
  if (grounded) return fine(groundedStanding(response));
  if (outcome === 'passages')
    return fine('These are the closest passages; whether they answer is for you to see.');
  if (outcome === 'none') return fine('Nothing in the documents that were searched answers this.');
  if (isUnsearched) return fine('Answered without a search, from no document.');
  return citations.length > 0
    ? fault('no passage that is cited bears the answer out')
    : fault('the answer cites nothing of what was found');
}

function groundedStanding(response: Standings): string {
  const { citations, checkedBy, answerProbability } = response;
  const passed = (wanted: 'quoted' | 'supported') =>
    citations.filter(({ verdict }) => verdict === wanted).length;
  const [quoted, supported] = [passed('quoted'), passed('supported')];
  const source = quoted + supported === 1 ? 'the source' : 'the sources';
  const found = `${supported === 0 ? 'Quoted from' : 'Borne out by'} ${source}${uncited(response)}`;
  if (checkedBy === 'words') return `${found}, by words alone; not judged whether it answers.`;
  if (answerProbability === null) return `${found}; not judged whether it answers.`;
  // More digits than the calibration bears out would only look exact.
  const percent = Math.round(answerProbability * 20) * 5;
  return `${found}; about ${percent} % likely to answer your question.`;
}

/** How much of what a model wrote itself rests on nothing. The offline one only quotes, and what it does not cite are headings. */
function uncited({ sentences, model }: Standings): string {
  const said = sentences.filter(({ text }) => !LEADS_IN.test(text));
  const without = said.filter(({ verdict }) => verdict === null).length;
  return model === OFFLINE_MODEL || without === 0
    ? ''
    : `, but for ${without} of ${said.length} sentences, which cite none`;
}

/** The words of an answer that no source bears out, each once. */
export function unsupportedWords({
  answer,
  sentences,
}: Pick<AgentResponse, 'answer' | 'sentences'>): string[] {
  const words = sentences.flatMap(({ unsupportedSpans }) =>
    unsupportedSpans.map(({ start, end }) => answer.slice(start, end)),
  );
  return [...new Set(words)];
}
