import type { Redactor } from '../faults/redactor.ts';
import { createIdMap, isSameAnswer, isSameValue } from './compare-answers.ts';
import type { Tape } from './open-tape.ts';
import type { TapeExchange, TapeHeader, TapeJson } from './tape-format.ts';
import { createTapePlayer } from './tape-player.ts';
import { createSeededIds } from './tape-runtime.ts';

/** How many ids generated from the seed are mapped to those of the older tape. */
const MAPPED_IDS = 2000;

export interface RecordingContent {
  header: TapeHeader;
  exchanges: Iterable<TapeExchange>;
  outputs: TapeJson;
}

/**
 * Merges a new recording into the tape that it replaces. An exchange with the same request and answer keeps its old ids,
 * times and position, so that recording an unchanged run again gives the same file.
 */
export function mergeRecording(
  before: Tape,
  now: Tape,
  { header, outputs, redactor }: { header: TapeHeader; outputs: TapeJson; redactor: Redactor },
): RecordingContent {
  const ids = createIdMap(pairSeededIds(header.seed, before.header.seed));
  const player = createTapePlayer(before, redactor);
  const oldEntries = new Map(before.entries().map((entry) => [entry.id, entry]));
  const merged: { position: number; read: () => TapeExchange }[] = [];
  let position = 0;
  let isSame = true;

  for (const entry of now.entries()) {
    const exchange = ids.toOldIds(now.read(entry));
    const found = player.find(exchange.request);
    const oldEntry = found === null ? undefined : oldEntries.get(found.id);
    const isKept = found !== null && oldEntry !== undefined && isSameAnswer(exchange, found, ids);
    isSame &&= isKept;
    // A new exchange follows the one that it was made after.
    if (oldEntry !== undefined) {
      oldEntries.delete(oldEntry.id);
      position = oldEntry.id;
    }
    merged.push({
      position,
      read: () => (isKept ? before.read(oldEntry) : ids.toOldIds(now.read(entry))),
    });
  }
  const oldOutputs = before.tail?.outputs ?? null;
  const newOutputs = ids.toOldIds(outputs);
  const sameOutputs = isSameValue(newOutputs, oldOutputs, ids);
  isSame &&= oldEntries.size === 0 && sameOutputs && hasSameInputs(header, before.header);
  return {
    header: isSame ? { ...before.header, version: header.version } : { ...header, seed: before.header.seed },
    outputs: sameOutputs ? oldOutputs : newOutputs,
    exchanges: merged
      .sort((a, b) => a.position - b.position)
      .values()
      .map(({ read }) => read()),
  };
}

function hasSameInputs(now: TapeHeader, before: TapeHeader): boolean {
  const inputsOf = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return isSameValue(inputsOf(now) as TapeJson, inputsOf(before) as TapeJson, null);
}

function pairSeededIds(newSeed: string, oldSeed: string): [string, string][] {
  if (newSeed === oldSeed) return [];
  const [newId, oldId] = [createSeededIds(newSeed), createSeededIds(oldSeed)];
  return Array.from({ length: MAPPED_IDS }, () => [newId(), oldId()]);
}
