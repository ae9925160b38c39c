import { AppError } from '../domain/app-error.ts';
import { parseFilter } from '../domain/filter.ts';
import { createQuery, MAX_QUERY_TOP_K, type Query } from '../domain/query.ts';
import { foundOf } from '../tape/run-outputs.ts';
import { assertKnownModules } from './known-modules.ts';
import { openCollection } from './open-collection.ts';
import { renderRetrieval } from './render-retrieval.ts';
import type { SearchFlags } from './search.ts';
import { recordedFlags } from './tape/recorded-flags.ts';
import { createTerminal } from './terminal.ts';
import { withApp } from './with-app.ts';

export function runSearch({ topK, threshold, ...flags }: SearchFlags): Promise<void> {
  const inputs = { flags: recordedFlags({ ...flags, topK, threshold }) };
  const settings = { ...flags, scoreThreshold: checkedThreshold(threshold) };
  return withApp(
    settings,
    async (app, signal, tape) => {
      const query = queryOf({ ...flags, topK: topK ?? app.config.agent.topK });
      const mode = flags.mode ?? 'hybrid';
      // The model is loaded while the collection is opened.
      if (mode !== 'lexical') app.embedder().catch(() => {});
      const store = await openCollection(app, signal, tape);
      try {
        await assertKnownModules(store, query.filter.module ?? []);
        const { context, hits } = await (await app.retriever(store, { mode })).retrieve(query, signal);
        if (tape !== null) tape.outputs.search = foundOf(context);
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
          const output = { collection: store.name, mode, ...context, ...(flags.explain && { explain }) };
          process.stdout.write(`${JSON.stringify(output)}\n`);
        } else {
          const terminal = createTerminal(process.stdout);
          renderRetrieval(terminal, {
            collection: store.name,
            context,
            hits,
            explain: flags.explain ?? false,
          });
        }
      } finally {
        await store.close();
      }
    },
    undefined,
    { command: 'search', inputs },
  );
}

export function queryOf({ query: words = [], topK, module, filter = [] }: SearchFlags): Query {
  const query = words.join(' ');
  if (query.trim() === '') {
    throw new AppError('invalid_input', 'The query is blank.', {
      hint: 'Ask for example: citeloop search "What is ROS 2?"',
    });
  }
  if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1 && topK <= MAX_QUERY_TOP_K)) {
    throw new AppError('invalid_input', `--top-k must be a whole number from 1 to ${MAX_QUERY_TOP_K}.`);
  }
  const expressions = module === undefined ? filter : [...filter, `module=${module}`];
  return createQuery({ text: query, topK, filter: parseFilter(expressions) });
}

function checkedThreshold(threshold: number | undefined): number | undefined {
  if (threshold === undefined || (threshold >= 0 && threshold <= 1)) return threshold;
  throw new AppError('invalid_input', '--threshold must be a number from 0 to 1.');
}
