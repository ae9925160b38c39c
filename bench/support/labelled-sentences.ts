import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { splitSentencesAndCode } from '../../src/text/split-sentences.ts';

/** Not part of the repository. */
export const LABELLED_DATA = fileURLToPath(new URL('../../../shared/data/support', import.meta.url));

export const LABELLED_SETS = [
  'attributionbench_dev',
  'wice_dev',
  'ragtruth_summary',
  'begin_dev',
  'capable_model',
  'healthver_dev',
] as const;
export type LabelledSet = (typeof LABELLED_SETS)[number];

export interface LabelledPassage {
  title: string;
  text: string;
}

/** A sentence that people have labelled against passages. */
export interface LabelledSentence {
  id: string;
  /** Its index in the set. */
  row: number;
  set: LabelledSet;
  question: string;
  claim: string;
  documents: LabelledPassage[];
  /** Its documents, cut to the size of chunks. */
  passages: LabelledPassage[];
  label: 'supported' | 'partly' | 'unsupported' | 'contradicted';
}

interface WrittenRow {
  id: string;
  question?: string | null;
  claim: string;
  documents?: string[];
  documentsOf?: string;
  label: LabelledSentence['label'];
}

/** The longest passage in characters; a chunk of 254 tokens has about as many. */
const PASSAGE_LENGTH = 1000;

/** The rows of a set, or null if the data is missing. */
export function readLabelledSet(set: LabelledSet): LabelledSentence[] | null {
  const path = join(LABELLED_DATA, `${set}.jsonl`);
  if (!existsSync(path)) return null;
  const beside = join(LABELLED_DATA, `${set}.documents.json`);
  const shared = existsSync(beside)
    ? (JSON.parse(readFileSync(beside, 'utf8')) as Record<string, string[]>)
    : {};
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line, index) => {
      const row = JSON.parse(line) as WrittenRow;
      const written = row.documents ?? shared[row.documentsOf ?? ''] ?? [];
      const documents = written.map((document) => toDocument(document, set === 'capable_model'));
      return {
        id: row.id,
        row: index,
        set,
        question: row.question ?? '',
        claim: row.claim.replace(/\s*\[\d+\]/g, '').trim(),
        documents,
        passages: documents.flatMap((document) =>
          document.title === '' ? toPassages(document.text) : document,
        ),
        label: row.label,
      };
    });
}

/** `hasTitle` if the first line of a document is its title and headings. */
function toDocument(document: string, hasTitle: boolean): LabelledPassage {
  const [first = '', ...lines] = document.split('\n');
  if (hasTitle) return { title: first, text: lines.join('\n') };
  // Some start with a line such as "[4] https://...".
  return { title: '', text: document.replace(/^\[\d+\]\s*https?:\S+\s+/, '').trim() };
}

/** Cuts a document at sentences. */
function toPassages(text: string): LabelledPassage[] {
  const passages: LabelledPassage[] = [];
  let start = 0;
  let end = 0;
  for (const sentence of splitSentencesAndCode(text)) {
    if (sentence.end - start > PASSAGE_LENGTH && end > start) {
      passages.push({ title: '', text: text.slice(start, end) });
      start = sentence.start;
    }
    end = sentence.end;
  }
  return [...passages, { title: '', text: text.slice(start) }];
}
