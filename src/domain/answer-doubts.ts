import type { AgentResponse } from './agent-response.ts';

// Read by the pages too, which hold no schemas: types alone are imported.

/** What the verdicts do not say of an answer that is in its sources: that it may not answer. Null where it is likely to. */
export function confidenceDoubt({
  grounded,
  checkedBy,
  confidence,
  citations,
}: Pick<AgentResponse, 'grounded' | 'checkedBy' | 'confidence' | 'citations'>): string | null {
  if (!grounded || confidence === 'high') return null;
  const quoted = citations.filter(({ verdict }) => verdict === 'quoted').length;
  const supported = citations.filter(({ verdict }) => verdict === 'supported').length;
  const source = quoted + supported === 1 ? 'the source' : 'the sources';
  const found = `${supported === 0 ? 'Quoted from' : 'Borne out by'} ${source}; may not answer your question.`;
  return checkedBy === 'judge' ? found : `${found} Checked by words alone, without the local model.`;
}

/** The words of an answer that no source bears out, each once. */
export function unborneWords({ answer, sentences }: Pick<AgentResponse, 'answer' | 'sentences'>): string[] {
  const words = sentences.flatMap(({ unborne }) => unborne.map(({ start, end }) => answer.slice(start, end)));
  return [...new Set(words)];
}
