import { findBlocks } from '../text/markdown-blocks.ts';
import { passageWindow } from '../text/passage-window.ts';
import { showsPassages } from './abstention.ts';

// Read by the page too, which holds no schemas: nothing that has any is imported.

/** What is no longer is shown whole: little would be gained by cutting it. */
const WHOLE = { characters: 600, lines: 12 };
/** What is shown of a longer one: two of them, with their sources, take about a screen. */
const PART = { characters: 480, lines: 8 };

/** The closest passages as a person sees them first. */
export interface ShownPassages {
  text: string;
  /** The marks of those of which not all is shown. */
  inPart: string[];
}

/**
 * Of an answer that shows the closest passages, the part of each that is nearest to the question; any other answer as it
 * is. What is recorded stays whole.
 */
export function nearestParts(answer: string, query: string): ShownPassages {
  const heads = showsPassages(answer) ? findBlocks(answer).filter(({ kind }) => kind === 'heading') : [];
  const inPart: string[] = [];
  const sections = heads.map(({ start, end }, index) => {
    const passage = answer.slice(end, heads[index + 1]?.start).trim();
    const part = nearestPart(passage, query);
    const marker = /\[([^[\]\s]+)\]$/.exec(passage)?.[1];
    if (part === passage || marker === undefined) return answer.slice(start, end + 2) + passage;
    inPart.push(marker);
    return `${answer.slice(start, end)}\n\n${withMarker(part, marker)}`;
  });
  return inPart.length === 0
    ? { text: answer, inPart }
    : { text: [answer.slice(0, heads[0]?.start).trim(), ...sections].join('\n\n'), inPart };
}

function nearestPart(passage: string, query: string): string {
  if (passage.length <= WHOLE.characters && passage.split('\n').length <= WHOLE.lines) return passage;
  const lines = passageWindow(passage, query, PART.characters).split('\n');
  return closed(lines.slice(0, PART.lines).join('\n').trimEnd());
}

/** Code that is cut ends where it is cut, so that it takes nothing of what follows along. */
function closed(part: string): string {
  const last = findBlocks(part).at(-1);
  if (last?.kind !== 'code') return part;
  const [opening = '', ...lines] = part.slice(last.start, last.end).split('\n');
  const [fence = ''] = /`{3,}|~{3,}/.exec(opening) ?? [];
  if (lines.length === 0) return part.slice(0, last.start).trimEnd();
  return lines.at(-1)?.trim().startsWith(fence) ? part : `${part}\n${fence}`;
}

/** Ends with the mark that the whole passage ends with. */
function withMarker(part: string, marker: string): string {
  const mark = `[${marker}]`;
  const said = part.endsWith(mark) ? part.slice(0, -mark.length).trimEnd() : part;
  const last = said.slice(said.lastIndexOf('\n') + 1);
  // Nothing may follow on the line of a fence or a row.
  return `${said}${/^[ \t]*(?:[`~]{3}|\|)/.test(last) ? '\n\n' : ' '}… ${mark}`;
}
