import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type AnswerFeatures, answerFeatures } from '../../src/judge/answer-features.ts';
import { readText } from '../../src/judge/read-text.ts';
import type { JudgedPassage, Unit } from '../../src/judge/unit.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { DATA, readLines } from './support-sets.ts';

/** A question with the sentences of one passage, of which people chose those that answer it, or none. */
export interface AnswerRow {
  id: string;
  question: string;
  title: string;
  sentences: string[];
  answerable: boolean;
  selected: number[];
}

/** Null where the data is not there. */
export function readAnswerSet(): AnswerRow[] | null {
  const path = join(DATA, 'questions', 'clapnq.jsonl');
  return existsSync(path) ? readLines<AnswerRow>(path) : null;
}

/** What the model sees of each sentence of each question. */
export async function answerExamples(
  rows: readonly AnswerRow[],
  encoder: TokenEncoder,
): Promise<AnswerFeatures[][]> {
  const examples: AnswerFeatures[][] = [];
  for (const { question, title, sentences } of rows) {
    const text = sentences.join(' ');
    const passage: JudgedPassage = { text, title, headings: [] };
    let at = 0;
    const units = sentences.map((sentence): Unit => {
      const start = at;
      at += sentence.length + 1;
      return { kind: 'sentence', passage, start, end: start + sentence.length, leadIn: null };
    });
    const [asked, read] = await encoder.encodeTokens([question, text]);
    if (asked === undefined || read === undefined) throw new Error('the encoder gave nothing back');
    examples.push(
      answerFeatures(
        readText(question, asked, encoder.dimensions),
        readText(text, read, encoder.dimensions),
        units,
      ),
    );
  }
  return examples;
}
