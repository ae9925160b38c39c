import { join } from 'node:path';
import { ingestDirectory } from './ingest-directory.ts';
import { median, timed } from './measure.ts';
import { loadEmbedder } from './minilm.ts';
import { note, type Row, row } from './rows.ts';
import { writeShortFiles } from './sample-book.ts';
import { withTemporaryDirectory } from './temporary-directory.ts';

const FILES = 1000;
const AGAIN = 5;

/** An unchanged corpus a second time against the first. */
export function benchReingest(): Promise<Row[]> {
  return withTemporaryDirectory(async (directory) => {
    const documents = join(directory, 'documents');
    const collections = join(directory, 'collections');
    await writeShortFiles(documents, FILES);
    const embedder = await loadEmbedder();
    let chunks = 0;
    const first = await timed(async () => {
      ({ chunks } = await ingestDirectory(documents, collections, async () => embedder));
    });
    const again: number[] = [];
    let unchanged = 0;
    for (let round = 0; round < AGAIN; round += 1) {
      again.push(
        await timed(async () => {
          ({ unchanged } = await ingestDirectory(documents, collections, async () => embedder));
        }),
      );
    }
    await embedder.close();
    return [
      row(`reingest: first time, ${FILES} files, ${chunks} chunks`, first, 'ms'),
      row('reingest: unchanged, against the first time', median(again), 'ms', {
        ratio: median(again) / first,
        target: { of: 'ratio', atMost: 0.02 },
      }),
      note(`reingest: ${unchanged} of ${FILES} files were recognised as unchanged`, unchanged === FILES),
    ];
  });
}
