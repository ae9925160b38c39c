import { listEvidence } from '../../domain/answer-status.ts';
import { isSupportedVerdict, VERDICT_LABELS } from '../shared/verdict-labels.ts';
import type { ChatTurn } from './chat-turn.ts';
import { revealHiddenCharacters } from './hidden-characters.ts';

/** The question, the answer, and its sources with their evidence. */
export function formatTurnAsMarkdown({ question, text, citations, turn }: ChatTurn): string {
  const sources = citations
    .filter(({ chunkId }) => chunkId !== null)
    .flatMap(({ marker, title, url, verdict, chunkId }) => {
      const flag = isSupportedVerdict(verdict) ? '' : `, ${VERDICT_LABELS[verdict].text}`;
      const evidence = listEvidence(turn?.response.sentences ?? [], chunkId);
      const name = escapeTitle(title === '' ? url : title);
      return [
        `- [${marker}] [${name}](<${escapeUrl(url)}>)${flag}`,
        ...evidence.map((text) => `  > ${toOneLine(text)}`),
      ];
    });
  const heading = `## ${toOneLine(question)}`;
  const footer = sources.length > 0 ? [`Sources:\n${sources.join('\n')}`] : [];
  return [heading, revealHiddenCharacters(text.trim()), ...footer].join('\n\n');
}

/** Returns false if the browser denies access to the clipboard. */
export async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function toOneLine(text: string): string {
  return revealHiddenCharacters(text.replace(/\s+/g, ' ').trim());
}

function escapeTitle(title: string): string {
  return toOneLine(title).replace(/[\\[\]`<>*_]/g, '\\$&');
}

function escapeUrl(url: string): string {
  return url.replace(/[\s<>\\]/g, encodeURIComponent);
}
