import type { Citation } from '../domain/citation.ts';
import { replaceRanges, shiftRange } from '../text/markdown-blocks.ts';
import type { CheckedAnswer } from './check-answer.ts';
import { findMarkers, isCitation, parseRefs } from './find-markers.ts';
import type { SourceRegister } from './source-register.ts';

/** A bracket that stays open for longer is not a marker. */
const LONGEST_MARKER = 40;

/**
 * Numbers the sources of one answer from 1 in the order in which they are cited. The refs of a register count the sources
 * of a whole session, so that the answers of a long conversation would cite `[37]`.
 */
export class MarkerNumbers {
  readonly #register: Pick<SourceRegister, 'chunkOf'>;
  #numbers = new Map<string, string>();
  #passed = '';
  #held = '';

  constructor(register: Pick<SourceRegister, 'chunkOf'>) {
    this.#register = register;
  }

  /** Returns the streamed text that can be shown now, with numbered markers and without those of unknown sources. */
  push(text: string): string {
    this.#held += text;
    let out = '';
    for (;;) {
      const open = /[ \t]*(?:\[|$)/.exec(this.#held)?.index ?? 0;
      out += this.#pass(open);
      const close = this.#held.indexOf(']');
      if (close < 0) return this.#held.length > LONGEST_MARKER ? out + this.#pass(this.#held.length) : out;
      const start = this.#held.indexOf('[');
      const written = this.#rewrite(start, close);
      if (written === null) out += this.#pass(Math.max(start, close) + 1);
      else {
        this.#held = written + this.#held.slice(close + 1);
        out += this.#pass(written.length);
      }
    }
  }

  /** Returns the text that was held back. */
  end(): string {
    return this.#pass(this.#held.length);
  }

  /** Starts over: the text so far is not part of the answer. */
  reset(): void {
    this.#numbers = new Map();
    this.#passed = '';
    this.#held = '';
  }

  /** The checked answer with the numbers that its stream had. Its citations are in the order of their numbers. */
  apply<T extends Omit<CheckedAnswer, 'checkedBy'>>(checked: T): T {
    const known = { knows: (ref: string) => this.#register.chunkOf(ref) !== undefined };
    const edits = findMarkers(checked.answer, known).flatMap(({ start, end, references, label }) => {
      const refs = references.map(({ name }) => name).filter(known.knows);
      return label !== null || refs.length === 0 ? [] : [{ start, end, text: this.#write(refs) }];
    });
    const numberOf = (ref: string) => (known.knows(ref) ? this.#numberOf(ref) : ref);
    return {
      ...checked,
      answer: replaceRanges(checked.answer, edits),
      citations: checked.citations
        .map((citation) =>
          citation.chunkId === null ? citation : { ...citation, marker: numberOf(citation.marker) },
        )
        .toSorted((a, b) => positionOf(a) - positionOf(b)),
      sentences: checked.sentences.map((sentence) => ({
        ...sentence,
        ...shiftRange(sentence, edits),
        refs: sentence.refs.map(numberOf),
        // As in "42 is not in [7]".
        reason: sentence.reason && {
          ...sentence.reason,
          text: sentence.reason.text.replace(/(?<=\[)\d+(?=\])/g, (ref) => this.#numbers.get(ref) ?? ref),
        },
      })),
    };
  }

  #numberOf(ref: string): string {
    const number = this.#numbers.get(ref) ?? String(this.#numbers.size + 1);
    this.#numbers.set(ref, number);
    return number;
  }

  #write(refs: readonly string[]): string {
    return [...new Set(refs)].map((ref) => `[${this.#numberOf(ref)}]`).join('');
  }

  /** The text of a held marker and the spaces before it; null if the bracket is something else. */
  #rewrite(start: number, close: number): string | null {
    const refs = start < 0 || start > close ? null : parseRefs(this.#held.slice(start + 1, close));
    if (refs === null || isInCode(this.#passed)) return null;
    const known = refs.filter((ref) => this.#register.chunkOf(ref) !== undefined);
    const text = this.#passed + this.#held.slice(0, close + 1);
    if (!isCitation(text, this.#passed.length + start, refs, (ref) => known.includes(ref))) return null;
    return known.length === 0 ? '' : this.#held.slice(0, start) + this.#write(known);
  }

  #pass(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#passed += text;
    return text;
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
