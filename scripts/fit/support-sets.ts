import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Beside the checkout; never part of it. */
export const DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));

export const SUPPORT_SETS = [
  'attributionbench_dev',
  'ragtruth_summary',
  'wice_dev',
  'begin_dev',
  'healthver_dev',
] as const;

export type SupportSet = (typeof SUPPORT_SETS)[number];

/** A sentence that people have held against passages. */
export interface SupportRow {
  id: string;
  set: SupportSet;
  source: string;
  claim: string;
  documents: string[];
  supported: boolean;
  label: string;
  /** Made-up words that annotators marked; few sets have them. */
  spans: string[];
  /** Rows that share a question or a text: they are never on both sides of a fold. */
  group: string;
}

interface WrittenRow {
  id: string;
  source: string;
  question?: string | null;
  claim: string;
  documents?: string[];
  documentsOf?: string;
  spans?: string[];
  label: string;
}

/** The rows of a set; null where the data is not there. */
export function readSupportSet(set: SupportSet): SupportRow[] | null {
  const path = join(DATA, 'support', `${set}.jsonl`);
  if (!existsSync(path)) return null;
  const beside = join(DATA, 'support', `${set}.documents.json`);
  const shared = existsSync(beside)
    ? (JSON.parse(readFileSync(beside, 'utf8')) as Record<string, string[]>)
    : {};
  return readLines<WrittenRow>(path).map((row) => {
    const documents = (row.documents ?? shared[row.documentsOf ?? ''] ?? []).map(withoutAddress);
    return {
      id: row.id,
      set,
      source: row.source,
      claim: withoutMarkers(row.claim),
      documents,
      supported: row.label === 'supported',
      label: row.label,
      spans: (row.spans ?? []).map((span) => span.trim()),
      group: row.documentsOf ?? row.question ?? documents[0]?.slice(0, 200) ?? row.id,
    };
  });
}

export function readLines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The program takes the markers off a sentence before it is judged. */
function withoutMarkers(claim: string): string {
  return claim.replace(/\s*\[\d+\]/g, '').trim();
}

/** "[4] https://...": a passage of the program has its address beside it. */
function withoutAddress(document: string): string {
  return document.replace(/^\[\d+\]\s*https?:\S+\s+/, '').trim();
}
