import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { assertKnownFilter, openCollection } from '../../app/open-collection.ts';
import { readFlag, wholeNumber } from '../../config/read-value.ts';
import { SEARCH_MODES } from '../../domain/choices.ts';
import { createQuery, MAX_QUERY_TOP_K, type Query } from '../../domain/query.ts';
import { AppError } from '../../faults/app-error.ts';
import { toSearchOutput } from '../../tape/run-outputs.ts';
import type { Run } from '../../tape/tape-run.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { paged } from '../terminal/paged.ts';
import { foundBy } from '../terminal/render-details.ts';
import { renderRetrieval } from '../terminal/render-retrieval.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { asSettings, filterOf } from './read-flags.ts';
import { withApp } from './with-app.ts';

/** What a search is asked for, as flags and tapes say it. */
export const searchSchema = z.object({
  query: z.array(z.string()).optional(),
  topK: z.number().optional(),
  module: z.string().optional(),
  filter: z.array(z.string()).optional(),
  mode: z.enum(SEARCH_MODES).optional(),
});

export interface SearchFlags extends CommonFlags, TapeFlags, z.infer<typeof searchSchema> {
  /** What follows `--`: a query may begin with a dash. */
  '--'?: string[] | undefined;
  threshold?: number | undefined;
  explain?: boolean | undefined;
}

export function runSearch(flags: SearchFlags): Promise<void> {
  // More passages than an agent may ask for: not the setting of that name.
  const { topK: _, ...settings } = flags;
  return withApp({ flags: asSettings(settings), taped: { command: 'search', flags } }, async (app, run) => {
    const { collection, mode, context, hits } = await search(app, flags, run);
    if (app.config.agent.verbose) {
      const terminal = createTerminal(process.stderr);
      terminal.write(`${terminal.text(`${mode} search of ${collection}: ${foundBy(context)}`, 'dim')}\n`);
    }
    if (flags.json) {
      const explain = hits.map(({ chunk, lexical, dense, fusedScore, fusedRank, rerankScore }) => ({
        chunkId: chunk.chunkId,
        lexicalRank: lexical?.rank ?? null,
        lexicalScore: lexical?.score ?? null,
        denseRank: dense?.rank ?? null,
        denseScore: dense?.score ?? null,
        fusedRank,
        fusedScore,
        rerankScore,
      }));
      const output = { collection, mode, ...context, ...(flags.explain && { explain }) };
      process.stdout.write(`${JSON.stringify(output)}\n`);
    } else {
      const { explain = false } = flags;
      await paged(process, (terminal) => renderRetrieval(terminal, { collection, context, hits, explain }));
    }
  });
}

/** Finds passages; a tape notes them. Throws `invalid_input` for a query that is none. */
export async function search(app: App, inputs: z.infer<typeof searchSchema>, { signal, tape }: Run) {
  const query = queryOf({ ...inputs, topK: inputs.topK ?? app.config.searchTopK });
  const mode = inputs.mode ?? 'hybrid';
  // The model is loaded while the collection is opened.
  if (mode !== 'lexical') app.embedder().catch(() => {});
  const store = await openCollection(app, signal, tape);
  try {
    await assertKnownFilter(store, query.filter);
    const { context, hits } = await (await app.retriever(store, { mode })).retrieve(query, signal);
    if (tape !== null) tape.outputs.search = toSearchOutput(context);
    return { collection: store.name, mode, context, hits };
  } finally {
    await store.close();
  }
}

function queryOf({ query: words = [], topK, module, filter = [] }: z.infer<typeof searchSchema>): Query {
  const query = words.join(' ');
  if (query.trim() === '') {
    throw new AppError('invalid_input', 'The query is blank.', {
      hint: 'Ask for example: citeloop search "What is ROS 2?"',
    });
  }
  return createQuery({
    text: query,
    topK: readFlag('--top-k', topK, wholeNumber(1, MAX_QUERY_TOP_K)),
    filter: filterOf({ filter, module }),
  });
}
