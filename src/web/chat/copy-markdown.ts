import { VERDICT_LABELS } from '../shared/verdict-labels.ts';
import { revealHidden } from './reveal-hidden.ts';
import type { TurnState } from './turn-state.ts';

/** A turn to paste elsewhere: the question, the answer, and its sources with their verdicts. */
export function turnAsMarkdown({ question, text, citations }: TurnState): string {
  const sources = citations
    .filter(({ chunkId }) => chunkId !== null)
    .map(
      ({ marker, title, url, verdict }) =>
        `- [${marker}] [${escaped(title === '' ? url : title)}](<${address(url)}>), ${VERDICT_LABELS[verdict].text}`,
    );
  const heading = `## ${oneLine(question)}`;
  const footer = sources.length > 0 ? [`Sources:\n${sources.join('\n')}`] : [];
  return [heading, revealHidden(text.trim()), ...footer].join('\n\n');
}

/** False where the browser does not let pages write to the clipboard. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function oneLine(text: string): string {
  return revealHidden(text.replace(/\s+/g, ' ').trim());
}

/** One piece of text, whatever signs a title holds. */
function escaped(title: string): string {
  return oneLine(title).replace(/[\\[\]`<>*_]/g, '\\$&');
}

function address(url: string): string {
  return url.replace(/[\s<>\\]/g, encodeURIComponent);
}
