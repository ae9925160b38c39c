import { findMarkdownBlocks } from '../text/markdown-blocks.ts';
import { splitPassageParts } from '../text/passage-parts.ts';
import { selectPassageWindow } from '../text/passage-window.ts';
import { isClosestPassagesAnswer } from './abstention.ts';

// The web pages use this file, so it must not depend on zod.

/** Passages up to this size are shown whole. */
const SHOWN_WHOLE = { characters: 600, lines: 12 };
/** The part shown of longer passages: two with their sources fill about a screen. */
const SHOWN_PART = { characters: 480, lines: 8 };

/**
 * Shortens an answer that shows the closest passages: each to the part nearest to the question, without trailing headings.
 * Other answers are returned unchanged. `truncatedMarkers` has the markers of passages that are cut.
 */
export function shortenClosestPassages(answer: string, query: string) {
  const heads = isClosestPassagesAnswer(answer)
    ? findMarkdownBlocks(answer).filter(({ kind }) => kind === 'heading')
    : [];
  const sections = heads.flatMap(({ start, end }, index) => {
    const { passage, marker } = withoutBareHeadings(answer.slice(end, heads[index + 1]?.start).trim());
    const head = answer.slice(start, end);
    if (marker === null) return [];
    const part = nearestPart(passage, query);
    return part === passage
      ? [{ text: `${head}\n\n${passage}`, truncatedMarkers: [] as string[] }]
      : [{ text: `${head}\n\n${withMarker(part, { passage, marker })}`, truncatedMarkers: [marker] }];
  });
  if (sections.length === 0) return { text: answer, truncatedMarkers: [] as string[] };
  const opening = answer.slice(0, heads[0]?.start).trim();
  return {
    text: [opening, ...sections.map(({ text }) => text)].join('\n\n'),
    truncatedMarkers: sections.flatMap(({ truncatedMarkers }) => truncatedMarkers),
  };
}

/** Lines of code, table rows and list items. */
const NOT_PROSE = /^[ \t]*(?:[`~]{3}|[|*+•-]|\d{1,9}[.)])/;
/** Characters compared to find out whether the beginning was cut. */
const COMPARED_PREFIX_LENGTH = 40;
const MARKER = /\[([^[\]\s]+)\]$/;

/** Removes headings at the end of a passage; the marker is null if nothing else is left. */
function withoutBareHeadings(passage: string): { passage: string; marker: string | null } {
  const parts = splitPassageParts(passage).map(({ kind, start, end }) => ({
    end,
    isLabel: kind === 'label',
    marker: MARKER.exec(passage.slice(start, end).trimEnd())?.[1] ?? null,
  }));
  const last = parts.findLast(({ isLabel, marker }) => !isLabel || marker !== null);
  const marked = parts.findLast(({ marker }) => marker !== null);
  return { passage: passage.slice(0, last?.end ?? 0).trimEnd(), marker: marked?.marker ?? null };
}

function nearestPart(passage: string, query: string): string {
  if (passage.length <= SHOWN_WHOLE.characters && passage.split('\n').length <= SHOWN_WHOLE.lines)
    return passage;
  const lines = selectPassageWindow(passage, query, SHOWN_PART.characters).split('\n');
  return closeFence(lines.slice(0, SHOWN_PART.lines).join('\n').trimEnd());
}

/** Closes a code fence that was cut. */
function closeFence(part: string): string {
  const last = findMarkdownBlocks(part).at(-1);
  if (last?.kind !== 'code') return part;
  const [opening = '', ...lines] = part.slice(last.start, last.end).split('\n');
  const [fence = ''] = /`{3,}|~{3,}/.exec(opening) ?? [];
  if (lines.length === 0) return part.slice(0, last.start).trimEnd();
  return lines.at(-1)?.trim().startsWith(fence) ? part : `${part}\n${fence}`;
}

/** Adds ellipses where text was cut, and the marker at the end. */
function withMarker(part: string, { passage, marker }: { passage: string; marker: string }): string {
  const mark = `[${marker}]`;
  const text = part.endsWith(mark) ? part.slice(0, -mark.length).trimEnd() : part;
  const isCutBefore = !passage.startsWith(text.slice(0, COMPARED_PREFIX_LENGTH)) && !NOT_PROSE.test(text);
  const last = text.slice(text.lastIndexOf('\n') + 1);
  // Nothing may follow a fence or a table row on its line.
  const gap = /^[ \t]*(?:[`~]{3}|\|)/.test(last) ? '\n\n' : ' ';
  return `${isCutBefore ? '… ' : ''}${text}${gap}${passage.endsWith(part) ? '' : '… '}${mark}`;
}
