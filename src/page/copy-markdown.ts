import type { TurnState } from './turn-state.ts';
import { verdicts } from './verdicts.ts';

/** A turn to paste elsewhere: the question, the answer, and its sources with their verdicts. */
export function turnAsMarkdown({ question, text, citations }: TurnState): string {
  const sources = citations
    .filter(({ chunkId }) => chunkId !== null)
    .map(
      ({ marker, title, url, verdict }) => `- [${marker}] [${title}](<${url}>), ${verdicts[verdict].word}`,
    );
  const heading = `## ${question.replace(/\s+/g, ' ')}`;
  return [heading, text.trim(), ...(sources.length > 0 ? [`Sources:\n${sources.join('\n')}`] : [])].join(
    '\n\n',
  );
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
