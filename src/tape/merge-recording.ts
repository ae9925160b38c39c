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
  { header, exchanges, outputs }: RecordingContent,
  redactor: Redactor,
): RecordingContent {
  const finder = createExchangeFinder(before, redactor);
  const unmatched = new Set(before.entries().map(({ id }) => id));
  const merged: { position: number; exchange: TapeExchange }[] = [];
  let position = 0;
  let isSame = true;

  for (const exchange of exchanges) {
    const found = finder.find(exchange.request);
    if (found === null || !unmatched.delete(found.id)) {
      // A new exchange follows the one that it was made after.
      merged.push({ position, exchange });
      isSame = false;
      continue;
    }
    position = found.id;
    const isKept = diffAnswers(found, exchange).length === 0;
    isSame &&= isKept;
    merged.push({ position, exchange: isKept ? found : { ...exchange, request: found.request } });
  }
  const oldOutputs = before.tail?.outputs ?? null;
  const sameOutputs = diffJson(canonicalJson(oldOutputs), canonicalJson(outputs)).length === 0;
  isSame &&= unmatched.size === 0 && sameOutputs && hasSameInputs(before.header, header);
  return {
    header: isSame ? { ...before.header, version: header.version } : header,
    outputs: sameOutputs ? oldOutputs : outputs,
    exchanges: merged.sort((a, b) => a.position - b.position).map((each) => each.exchange),
  };
}

function hasSameInputs(before: TapeHeader, now: TapeHeader): boolean {
  const inputsOf = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return diffJson(inputsOf(before) as TapeJson, inputsOf(now) as TapeJson).length === 0;
}
