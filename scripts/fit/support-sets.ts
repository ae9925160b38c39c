import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Not part of the repository. */
export const DATA = fileURLToPath(new URL('../../../shared/data', import.meta.url));

export const SUPPORT_SETS = [
  'attributionbench_dev',
  'ragtruth_summary',
  'wice_dev',
  'begin_dev',
  'healthver_dev',
] as const;

export type SupportSet = (typeof SUPPORT_SETS)[number];

/** A sentence that people have labelled against passages. */
export interface SupportRow {
  id: string;
  set: SupportSet;
  source: string;
  claim: string;
  documents: string[];
  supported: boolean;
  label: string;
  /** Spans that annotators marked as invented; few sets have them. */
  spans: string[];
  /** Rows with the same question or text are in the same fold. */
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

/** The rows of a set, or null if the data is missing. */
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

/** Removes citation markers, as the program does. */
function withoutMarkers(claim: string): string {
  return claim.replace(/\s*\[\d+\]/g, '').trim();
}

/** Removes a line such as "[4] https://..." at the start of a passage. */
function withoutAddress(document: string): string {
  return document.replace(/^\[\d+\]\s*https?:\S+\s+/, '').trim();
}
