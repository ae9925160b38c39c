import type { Redactor } from '../faults/redactor.ts';
import { diffAnswers } from './diff-answers.ts';
import { diffJson } from './diff-json.ts';
import { createExchangeFinder } from './exchange-finder.ts';
import { canonicalJson } from './match-key.ts';
import type { Tape } from './open-tape.ts';
import type { TapeExchange, TapeHeader, TapeJson } from './tape-format.ts';

export interface RecordingContent {
  header: TapeHeader;
  exchanges: Iterable<TapeExchange>;
  outputs: TapeJson;
}

/**
 * Merges a new recording into the tape that it replaces. What is unchanged keeps its ids, times and position, so that
 * recording an unchanged run again gives the same file.
 */
export function mergeRecording(
  before: Tape,
  now: Tape,
  { header, outputs, redactor }: { header: TapeHeader; outputs: TapeJson; redactor: Redactor },
): RecordingContent {
  const finder = createExchangeFinder(before, redactor);
  const oldEntries = new Map(before.entries().map((entry) => [entry.id, entry]));
  const merged: { position: number; read: () => TapeExchange }[] = [];
  let position = 0;
  let isSame = true;

  for (const entry of now.entries()) {
    const exchange = now.read(entry);
    const found = finder.find(exchange.request);
    const oldEntry = found === null ? undefined : oldEntries.get(found.id);
    if (found === null || oldEntry === undefined) {
      // A new exchange follows the one that it was made after.
      merged.push({ position, read: () => now.read(entry) });
      isSame = false;
      continue;
    }
    oldEntries.delete(oldEntry.id);
    position = oldEntry.id;
    const isKept = diffAnswers(found, exchange).length === 0;
    isSame &&= isKept;
    const { request } = found;
    merged.push({
      position,
      read: () => (isKept ? before.read(oldEntry) : { ...now.read(entry), request }),
    });
  }
  const oldOutputs = before.tail?.outputs ?? null;
  const sameOutputs = diffJson(canonicalJson(oldOutputs), canonicalJson(outputs)).length === 0;
  isSame &&= oldEntries.size === 0 && sameOutputs && hasSameInputs(before.header, header);
  return {
    header: isSame ? { ...before.header, version: header.version } : header,
    outputs: sameOutputs ? oldOutputs : outputs,
    exchanges: merged
      .sort((a, b) => a.position - b.position)
      .values()
      .map(({ read }) => read()),
  };
}

function hasSameInputs(before: TapeHeader, now: TapeHeader): boolean {
  const inputsOf = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return diffJson(inputsOf(before) as TapeJson, inputsOf(now) as TapeJson).length === 0;
}
