import * as z from 'zod';
import type { App } from '../../app/create-app.ts';
import { assertKnownFilter, openCollection } from '../../app/open-collection.ts';
import { integerSchema, parseFlag } from '../../config/parse-value.ts';
import { createQuery, MAX_QUERY_TOP_K, type Query } from '../../domain/query.ts';
import { SEARCH_MODES } from '../../domain/setting-choices.ts';
import { AppError } from '../../faults/app-error.ts';
import { withSuggestions } from '../../retrieval/suggest-words.ts';
import type { CommandRun } from '../../tape/run-observer.ts';
import { toSearchOutput } from '../../tape/run-outputs.ts';
import type { CommonFlags, TapeFlags } from '../flags/common-flags.ts';
import { renderSearchResult } from '../terminal/render-retrieval.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { toFilter, toSettings } from './read-flags.ts';
import { withApp } from './with-app.ts';

export const searchInputsSchema = z.object({
  query: z.array(z.string()).optional(),
  topK: z.number().optional(),
  module: z.string().optional(),
  filter: z.array(z.string()).optional(),
  mode: z.enum(SEARCH_MODES).optional(),
});

export interface SearchFlags extends CommonFlags, TapeFlags, z.infer<typeof searchInputsSchema> {
  threshold?: number | undefined;
  explain?: boolean | undefined;
}

export function runSearch(flags: SearchFlags): Promise<void> {
  // The limit of a search is higher than that of the setting topK.
  const { topK: _, ...settings } = flags;
  return withApp({ flags: toSettings(settings), taped: { command: 'search', flags } }, async (app, run) => {
    const { collection, mode, context, hits } = await searchCollection(app, flags, run);
    const { explain = false } = flags;
    if (!flags.json) {
      const shown = { collection, mode, context, hits, explain };
      return renderSearchResult(createTerminal(process.stdout), shown);
    }
    const ranks = hits.map(({ chunk, lexical, dense, fusedScore, fusedRank, rerankScore }) => ({
      chunkId: chunk.chunkId,
      lexicalRank: lexical?.rank ?? null,
      lexicalScore: lexical?.score ?? null,
      denseRank: dense?.rank ?? null,
      denseScore: dense?.score ?? null,
      fusedRank,
      fusedScore,
      rerankScore,
    }));
    const output = { collection, mode, ...context, ...(explain && { explain: ranks }) };
    process.stdout.write(`${JSON.stringify(output)}\n`);
  });
}

/** Searches the collection and records the result on the tape. Throws `invalid_input` for a bad query. */
export async function searchCollection(
  app: App,
  options: z.infer<typeof searchInputsSchema>,
  { signal, tape }: CommandRun,
) {
  const query = toQuery({ ...options, topK: options.topK ?? app.config.searchTopK });
  const mode = options.mode ?? 'hybrid';
  // Starts to load while the collection is opened.
  if (mode !== 'lexical') app.embedder().catch(() => {});
  const store = await openCollection(app, signal, tape);
  try {
    await assertKnownFilter(store, query.filter);
    const retriever = withSuggestions(await app.retriever(store, { mode }), store);
    const { context, hits } = await retriever.retrieve(query, signal);
    if (tape !== null) tape.outputs.search = toSearchOutput(context);
    return { collection: store.name, mode, context, hits };
  } finally {
    await store.close();
  }
}

function toQuery({
  query: words = [],
  topK,
  module,
  filter = [],
}: z.infer<typeof searchInputsSchema>): Query {
  const query = words.join(' ');
  if (query.trim() === '') {
    throw new AppError('invalid_input', 'The query is blank.', {
      hint: 'Example: citeloop search "What is ROS 2?"',
    });
  }
  return createQuery({
    text: query,
    topK: parseFlag('--top-k', topK, integerSchema(1, MAX_QUERY_TOP_K)),
    filter: toFilter({ filter, module }),
  });
}
