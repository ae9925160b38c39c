import type { Redactor } from '../faults/redactor.ts';
import type { Tape, TapeEntry } from './open-tape.ts';
import { createRenamedIds, sameAnswer, sameValue } from './same-answer.ts';
import type { TapeExchange, TapeHeader, TapeJson } from './tape-format.ts';
import { createTapePlayer } from './tape-player.ts';
import { seededIds } from './tape-runtime.ts';

/** As many ids of a run are known again on its tape. */
const MOST_IDS = 2000;

export interface Recording {
  header: TapeHeader;
  exchanges: Iterable<TapeExchange>;
  outputs: TapeJson;
}

/**
 * A recording as it takes the place of a tape of before: what was asked and answered as it was stays as it stands there,
 * with its ids, its times and its place, so that a recording of an unchanged run is the same file and one of a changed
 * run differs in what changed.
 */
export function keepUnchanged(
  before: Tape,
  now: Tape,
  { header, outputs, redactor }: { header: TapeHeader; outputs: TapeJson; redactor: Redactor },
): Recording {
  const ids = createRenamedIds(pairedIds(header.seed, before.header.seed));
  const player = createTapePlayer(before, redactor);
  const entries = new Map(before.entries().map((entry) => [entry.id, entry]));
  const left = new Set(entries.keys());
  /** Each begins with one that was on the tape, at whose place it stays, and goes on with what is new after it. */
  const groups: { place: number; items: Item[] }[] = [{ place: 0, items: [] }];
  let isSame = true;

  for (const entry of now.entries()) {
    const exchange = ids.renamed(now.read(entry));
    const found = player.find(exchange.request);
    const old = found === null || !left.delete(found.id) ? null : found;
    const isKept = old !== null && sameAnswer(exchange, old, ids);
    isSame &&= isKept;
    const item: Item = isKept
      ? { tape: before, entry: entries.get(old.id) as TapeEntry }
      : { tape: now, entry };
    if (old === null) groups.at(-1)?.items.push(item);
    else groups.push({ place: old.id, items: [item] });
  }
  const oldOutputs = before.tail?.outputs ?? null;
  const sameOutputs = sameValue(ids.renamed(outputs), oldOutputs, ids);
  isSame &&= left.size === 0 && sameOutputs && sameRun(header, before.header);
  return {
    header: isSame ? { ...before.header, version: header.version } : { ...header, seed: before.header.seed },
    outputs: sameOutputs ? oldOutputs : ids.renamed(outputs),
    exchanges: inOrder(),
  };

  function* inOrder(): Iterable<TapeExchange> {
    for (const { items } of groups.toSorted((a, b) => a.place - b.place))
      for (const { tape, entry } of items)
        yield tape === before ? tape.read(entry) : ids.renamed(tape.read(entry));
  }
}

interface Item {
  tape: Tape;
  entry: TapeEntry;
}

function sameRun(now: TapeHeader, before: TapeHeader): boolean {
  const asked = ({ createdAt: _, seed: __, madeBy: ___, version: ____, ...rest }: TapeHeader) => rest;
  return sameValue(asked(now) as TapeJson, asked(before) as TapeJson, null);
}

/** The ids that the program made itself, in their order. */
function pairedIds(now: string, before: string): [string, string][] {
  if (now === before) return [];
  const [one, other] = [seededIds(now), seededIds(before)];
  return Array.from({ length: MOST_IDS }, () => [one(), other()]);
}
