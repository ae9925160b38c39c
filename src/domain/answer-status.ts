import type { AgentResponse } from './agent-response.ts';
import { OFFLINE_MODEL } from './setting-choices.ts';

// The web pages use this file, so it must not depend on zod.

/** How far an answer is supported and answers the question; a warning if it is incomplete or not supported. */
export function describeAnswerStatus(response: AgentResponse) {
  const { outcome, grounded, citations, retrievalPerformed, finishReason } = response;
  const warning = (reason: string) => ({ sentence: `Not grounded: ${reason}.`, isWarning: true });
  const status = (sentence: string) => ({ sentence, isWarning: false });
  if (finishReason !== 'stop') return warning('the answer is incomplete');
  if (grounded) return status(describeGrounded(response));
  if (outcome === 'passages') return status('No clear answer. These are the closest passages.');
  if (outcome === 'none') return status('The searched documents do not answer this.');
  if (citations.length > 0) return warning('no cited passage supports the answer');
  if (!retrievalPerformed) return status('Answered without searching the documents.');
  return warning('the answer cites none of the passages found');
}

function describeGrounded(response: AgentResponse): string {
  const { citations, checkedBy, answerProbability } = response;
  const count = (wanted: 'quoted' | 'supported') =>
    citations.filter(({ verdict }) => verdict === wanted).length;
  const [quoted, supported] = [count('quoted'), count('supported')];
  const sources = quoted + supported === 1 ? 'the source' : 'the sources';
  const support = `${supported === 0 ? 'Quoted from' : 'Supported by'} ${sources}${describeUncited(response)}`;
  if (checkedBy === 'words') return `${support}; checked by words only.`;
  if (answerProbability === null) return `${support}.`;
  // The calibration is not more precise than 5 %.
  const percent = Math.round(answerProbability * 20) * 5;
  return `${support}; about ${percent} % likely to answer your question.`;
}

/** The offline model only quotes; its sentences without citations are headings. */
function describeUncited({ sentences, model }: AgentResponse): string {
  const statements = sentences.filter(({ text }) => !/:\s*$/.test(text));
  const uncited = statements.filter(({ verdict }) => verdict === null).length;
  if (model === OFFLINE_MODEL || uncited === 0) return '';
  return `, except ${uncited} of ${statements.length} sentences without a citation`;
}

/** The text of all unsupported spans of an answer, without duplicates. */
export function unsupportedTexts({
  answer,
  sentences,
}: Pick<AgentResponse, 'answer' | 'sentences'>): string[] {
  const spans = sentences.flatMap(({ unsupportedSpans }) => unsupportedSpans);
  return [...new Set(spans.map(({ start, end }) => answer.slice(start, end)))];
}
