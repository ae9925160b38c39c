import type { StoredChunk } from '../../ports/chunk-store.ts';
import { fileIsGone } from '../../retrieval/chunk-changes.ts';
import { visibleText } from '../../text/visible-text.ts';
import type { Evidence } from './find-evidence.ts';
import { goneWord, openable, readableUrl } from './render-answer.ts';
import { placeOf } from './render-ledger.ts';
import { verdictPiece } from './render-sentences.ts';
import { type Terminal, wrapWidth } from './terminal.ts';
import { flowLine, flowRuns, type Run, renderText } from './wrapping.ts';

/** A cited passage among what stands around it in its document, with what the answer rests on marked. */
export function renderSource(
  terminal: Terminal,
  { citation, chunk, turn }: Evidence,
  around: readonly StoredChunk[],
): void {
  const cited = around.find(({ chunkId }) => chunkId === citation.chunkId) ?? chunk;
  const head = flowLine(terminal, [
    { text: `[${citation.marker}]`, paint: (part) => terminal.text(part, 'bold') },
    {
      text: cited === null ? citation.title : placeOf(cited),
      paint: (part) => terminal.link(openable(cited ?? citation), part, 'cyan'),
    },
    verdictPiece(terminal, citation.verdict),
    ...(cited !== null && fileIsGone(cited) ? [goneWord(terminal)] : []),
  ]);
  terminal.write(`${head}\n`);
  renderText(terminal, readableUrl(citation.url), { style: 'dim' });
  terminal.write('\n');
  const ranges = turn.response.sentences
    .flatMap(({ evidence, refs }) =>
      evidence !== null && evidence.chunkId === citation.chunkId && refs.length > 0 ? [evidence] : [],
    )
    .toSorted((a, b) => a.start - b.start);
  const passages = around.length > 0 ? around : chunk === null ? [] : [chunk];
  passages.forEach((passage, index) => {
    if (index > 0) terminal.write('\n');
    const isCited = passage.chunkId === citation.chunkId;
    // A passage that has changed since has its words elsewhere.
    const isSame = chunk === null || passage.contentHash === chunk.contentHash;
    const runs = isCited
      ? marked(terminal, passage.text, isSame ? ranges : [])
      : [{ text: visibleText(passage.text), paint: (part: string) => terminal.text(part, 'dim') }];
    const lines = flowRuns(runs, wrapWidth(terminal), { keepIndents: true });
    for (const line of lines) terminal.write(`${line}\n`);
    if (isCited && !isSame)
      terminal.write(`${terminal.text('It has changed since it was cited.', 'yellow')}\n`);
  });
  if (passages.length === 0) terminal.write('The passage is no longer in the collection.\n');
}

/** What bears the answer out is underlined, or stands between marks where there are no looks. */
function marked(terminal: Terminal, text: string, ranges: readonly { start: number; end: number }[]): Run[] {
  const runs: Run[] = [];
  let at = 0;
  const plain = (part: string) => terminal.text(part);
  const strong = (part: string) => terminal.text(part, ['bold', 'underline']);
  for (const { start, end } of ranges) {
    if (start < at || end > text.length) continue;
    runs.push({ text: visibleText(text.slice(at, start)), paint: plain });
    const words = visibleText(text.slice(start, end));
    runs.push({ text: terminal.colours ? words : `»${words}«`, paint: strong });
    at = end;
  }
  runs.push({ text: visibleText(text.slice(at)), paint: plain });
  return runs;
}
