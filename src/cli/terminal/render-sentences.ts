import type { AgentResponse } from '../../domain/agent-response.ts';
import { unsupportedWords } from '../../domain/answer-doubts.ts';
import type { CheckedSentence } from '../../domain/checked-sentence.ts';
import type { Verdict } from '../../domain/citation.ts';
import { oneLine } from '../../text/visible-text.ts';
import type { Terminal } from './terminal.ts';
import { flowLine, type Piece, renderText } from './wrapping.ts';

const MAX_SENTENCE = 300;
const INDENT = '        ';

const verdicts: Record<Verdict, { word: string; style: 'green' | 'yellow' | 'red' }> = {
  quoted: { word: 'quoted', style: 'green' },
  supported: { word: 'supported', style: 'green' },
  weak: { word: 'weak', style: 'yellow' },
  unsupported: { word: 'unsupported', style: 'red' },
  unknown_source: { word: 'unknown source', style: 'red' },
};

/** Of passages that are shown for want of an answer it says no more than that they are real: `quietly`. */
export function verdictPiece(
  terminal: Terminal,
  verdict: Verdict,
  { quietly = false }: { quietly?: boolean } = {},
): Piece {
  const { word, style } = verdicts[verdict];
  const shown = quietly && style === 'green' ? 'dim' : style;
  return { text: word, paint: (text) => terminal.text(text, shown) };
}

/** The words of an answer that nothing bears out: underlined in their sentences for a person, listed for a pipe. */
export function renderUnsupportedWords(terminal: Terminal, { answer, sentences }: AgentResponse): void {
  const doubtful = sentences.filter(({ unsupportedSpans }) => unsupportedSpans.length > 0);
  if (doubtful.length === 0) return;
  if (!terminal.interactive) {
    renderText(terminal, `In no source that is cited: ${listed(unsupportedWords({ answer, sentences }))}`);
    return;
  }
  renderText(terminal, 'The underlined words are in no source that is cited:');
  for (const sentence of doubtful) {
    terminal.write(`    ${flowLine(terminal, underlined(terminal, answer, sentence))}\n`);
  }
}

/** Each sentence that cites, with its verdict and why. */
export function renderSentences(terminal: Terminal, { answer, sentences }: AgentResponse): void {
  for (const sentence of sentences) {
    const { verdict, probability, evidence, text } = sentence;
    if (verdict === null) continue;
    const pieces: Piece[] = [
      verdictPiece(terminal, verdict),
      ...(probability === null ? [] : [{ text: probability.toFixed(2) }]),
      { text: `"${oneLine(text, MAX_SENTENCE)}"`, gap: '  ' },
    ];
    terminal.write(`${flowLine(terminal, pieces, INDENT)}\n`);
    const words = unsupportedWords({ answer, sentences: [sentence] });
    if (evidence !== null && verdict !== 'quoted' && verdict !== 'unsupported') {
      const nearest = { text: `${INDENT}nearest: "${oneLine(evidence.text, MAX_SENTENCE)}"` };
      terminal.write(`${flowLine(terminal, [nearest], INDENT)}\n`);
    }
    if (words.length > 0) renderText(terminal, `in no source: ${listed(words)}`, { indent: INDENT });
  }
}

function listed(words: readonly string[]): string {
  return words.map((word) => oneLine(word, MAX_SENTENCE)).join(', ');
}

/** A sentence as it stands in the answer, on one line. */
function underlined(terminal: Terminal, answer: string, sentence: CheckedSentence): Piece[] {
  const pieces: Piece[] = [];
  let at = sentence.start;
  const add = (to: number, paint?: Piece['paint']) => {
    const text = oneLine(answer.slice(at, to), Number.POSITIVE_INFINITY);
    const gap =
      /^\s|^$/.test(answer.slice(at, to)) || /\s$/.test(answer.slice(sentence.start, at)) ? ' ' : '';
    if (text !== '') pieces.push({ text, gap, ...(paint && { paint }) });
    at = to;
  };
  for (const { start, end } of sentence.unsupportedSpans) {
    add(start);
    add(end, (text) => terminal.text(text, 'underline'));
  }
  add(sentence.end);
  return pieces;
}
