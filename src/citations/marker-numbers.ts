import type { Citation } from '../domain/citation.ts';
import { replaceRanges, shiftRange, type TextEdit } from '../text/markdown-blocks.ts';
import type { CheckedAnswer } from './check-answer.ts';
import { findMarkers } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';

/** What may become a marker, with the spaces before it. A bracket that stays open for longer is not one. */
const OPEN_MARKER = /[ \t]{0,20}(?:[[【][^\]】\n]{0,40})?$/;

/**
 * Numbers the sources of one answer from 1 in the order in which they are cited. The refs of a register count the sources
 * of a whole session, so that the answers of a long conversation would cite `[37]`.
 */
export class MarkerNumbers {
  readonly #knows: (ref: string) => boolean;
  #numbers = new Map<string, string>();
  #source = '';
  #shown = 0;

  constructor(register: Pick<SourceRegister, 'chunkOf'>) {
    this.#knows = (ref) => register.chunkOf(ref) !== undefined;
  }

  /** Returns the streamed text that can be shown now, with numbered markers and without those of unknown sources. */
  push(text: string): string {
    this.#source += text;
    return this.#showUntil(OPEN_MARKER.exec(this.#source)?.index ?? 0);
  }

  /** Returns the text that was held back. */
  end(): string {
    return this.#showUntil(this.#source.length);
  }

  /** Starts over: the text so far is not part of the answer. */
  reset(): void {
    this.#numbers = new Map();
    this.#source = '';
    this.#shown = 0;
  }

  /** The checked answer with the numbers that its stream had. Its citations are in the order of their numbers. */
  apply<T extends Omit<CheckedAnswer, 'checkedBy'>>(checked: T): T {
    const edits = this.#numberMarkers(checked.answer);
    const numberOf = (ref: string) => this.#numbers.get(ref) ?? ref;
    return {
      ...checked,
      answer: replaceRanges(checked.answer, edits),
      citations: checked.citations
        .map((citation) => ({
          ...citation,
          marker: citation.chunkId === null ? citation.marker : numberOf(citation.marker),
        }))
        .toSorted((a, b) => positionOf(a) - positionOf(b)),
      sentences: checked.sentences.map((sentence) => ({
        ...sentence,
        ...shiftRange(sentence, edits),
        refs: sentence.refs.map(numberOf),
        // As in "42 is not in [7]".
        reason: sentence.reason && {
          ...sentence.reason,
          text: sentence.reason.text.replace(/(?<=\[)\d+(?=\])/g, numberOf),
        },
      })),
    };
  }

  #showUntil(end: number): string {
    const from = this.#shown;
    if (end <= from) return '';
    this.#shown = end;
    const text = this.#source.slice(from, end);
    if (!/[\]】]/.test(text)) return text;
    const edits = this.#numberMarkers(this.#source.slice(0, end), from, true).map((edit) => ({
      ...edit,
      start: edit.start - from,
      end: edit.end - from,
    }));
    return replaceRanges(text, edits);
  }

  /** Edits that number the refs of a text from an offset on. Unknown ones go, with the spaces before them. */
  #numberMarkers(text: string, from = 0, isStreamed = false): TextEdit[] {
    return findMarkers(text, this.#knows).flatMap(({ start, end, names }) => {
      if (start < from || names.some((name) => !/^\d+$/.test(name))) return [];
      if (isStreamed && isInCode(text.slice(0, start))) return [];
      const known = new Set(names.filter(this.#knows));
      if (known.size > 0)
        return [{ start, end, text: Array.from(known, (ref) => this.#write(ref)).join('') }];
      const before = text.slice(from, start);
      return [{ start: from + before.replace(/[ \t]{0,20}$/, '').length, end, text: '' }];
    });
  }

  #write(ref: string): string {
    const number = this.#numbers.get(ref) ?? String(this.#numbers.size + 1);
    this.#numbers.set(ref, number);
    return `[${number}]`;
  }
}

/** A question whose markers mean sources of the last answer, with the refs that the model knows them by. */
export function toSessionRefs(
  question: string,
  lastCitations: readonly Pick<Citation, 'marker' | 'chunkId'>[],
  register: SourceRegister,
): string {
  const chunks = new Map(lastCitations.map(({ marker, chunkId }) => [marker, chunkId]));
  return question.replace(/\[(\d{1,3})\]/g, (marker, number: string) => {
    const source = register.entries().find(({ chunk }) => chunk.chunkId === chunks.get(number));
    return source === undefined ? marker : `[${source.ref}]`;
  });
}

/** By number; unknown sources come last. */
function positionOf({ marker, chunkId }: Pick<Citation, 'marker' | 'chunkId'>): number {
  return chunkId === null ? Number.MAX_SAFE_INTEGER : Number(marker);
}

/** Whether a run of backticks is still open at the end of a text. */
function isInCode(text: string): boolean {
  return (text.match(/`+/g)?.length ?? 0) % 2 === 1;
}
