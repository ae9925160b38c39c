import type { CitationChecker, CitedSentence, SentenceCheck } from '../ports/citation-checker.ts';
import type { Reranker } from '../ports/reranker.ts';

/**
 * Flags a sentence if a cross-encoder finds it entailed by each of its chunks with a lower probability than its
 * threshold. Quotes and evidence come from `words`. Throws if the cross-encoder cannot be loaded, since the user chose it.
 */
export function createEntailmentChecker(
  crossEncoder: () => Promise<Reranker>,
  words: CitationChecker,
): CitationChecker {
  return async (sentences, context) => {
    const { checks: byWords } = await words(sentences, context);
    const { rerank, scoreThreshold } = await crossEncoder();

    /** The chunk comes first, as such models are trained. */
    async function isEntailed({ text, chunks }: CitedSentence): Promise<boolean> {
      for (const chunk of chunks) {
        const [result] = await rerank(chunk.text, [text], 1, context.signal);
        if (result !== undefined && result.score >= scoreThreshold) return true;
      }
      return false;
    }

    const checks: SentenceCheck[] = [];
    for (const [index, sentence] of sentences.entries()) {
      const check = byWords[index] as SentenceCheck;
      if (check.verdict === 'quoted') checks.push(check);
      else if (await isEntailed(sentence)) checks.push({ ...check, verdict: 'supported', reason: null });
      else {
        const reason = `${sentence.refs.map((ref) => `[${ref}]`).join('')} does not entail this`;
        checks.push({ ...check, verdict: 'unsupported', reason: { kind: 'not_entailed', text: reason } });
      }
    }
    return { checks, checkedBy: 'onnx' };
  };
}
