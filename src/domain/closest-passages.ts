import { findBlocks } from '../text/markdown-blocks.ts';
import { passageParts } from '../text/passage-units.ts';
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
 * Of an answer that shows the closest passages, the part of each that is nearest to the question, without headings that
 * nothing stands below; any other answer as it is. What is recorded stays whole.
 */
export function nearestParts(answer: string, query: string): ShownPassages {
  const heads = showsPassages(answer) ? findBlocks(answer).filter(({ kind }) => kind === 'heading') : [];
  const sections = heads.flatMap(({ start, end }, index) => {
    const { passage, marker } = withoutBareHeadings(answer.slice(end, heads[index + 1]?.start).trim());
    const head = answer.slice(start, end);
    if (marker === null) return [];
    const part = nearestPart(passage, query);
    return part === passage
      ? [{ text: `${head}\n\n${passage}`, inPart: [] }]
      : [{ text: `${head}\n\n${withMarker(part, { passage, marker })}`, inPart: [marker] }];
  });
  if (sections.length === 0) return { text: answer, inPart: [] };
  const opening = answer.slice(0, heads[0]?.start).trim();
  return {
    text: [opening, ...sections.map(({ text }) => text)].join('\n\n'),
    inPart: sections.flatMap(({ inPart }) => inPart),
  };
}

/** Lines that begin with a sign of their own: of code, a row, an item. */
const NOT_PROSE = /^[ \t]*(?:[`~]{3}|[|*+•-]|\d{1,9}[.)])/;
const FIRST_WORDS = 40;
const MARKER = /\[([^[\]\s]+)\]$/;

/** A passage without the headings at its end, whose text stands in another; one that says nothing has no mark. */
function withoutBareHeadings(passage: string): { passage: string; marker: string | null } {
  const parts = passageParts(passage).map(({ kind, start, end }) => ({
    end,
    isLabel: kind === 'label',
    marker: MARKER.exec(passage.slice(start, end).trimEnd())?.[1] ?? null,
  }));
  const last = parts.findLast(({ isLabel, marker }) => !isLabel || marker !== null);
  const marked = parts.findLast(({ marker }) => marker !== null);
  return { passage: passage.slice(0, last?.end ?? 0).trimEnd(), marker: marked?.marker ?? null };
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

/** A part with signs of what is left out before and behind it, and the mark of the passage at its end. */
function withMarker(part: string, { passage, marker }: { passage: string; marker: string }): string {
  const mark = `[${marker}]`;
  const said = part.endsWith(mark) ? part.slice(0, -mark.length).trimEnd() : part;
  const isCutBefore = !passage.startsWith(said.slice(0, FIRST_WORDS)) && !NOT_PROSE.test(said);
  const last = said.slice(said.lastIndexOf('\n') + 1);
  // Nothing may follow on the line of a fence or a row.
  const gap = /^[ \t]*(?:[`~]{3}|\|)/.test(last) ? '\n\n' : ' ';
  return `${isCutBefore ? '… ' : ''}${said}${gap}${passage.endsWith(part) ? '' : '… '}${mark}`;
}
