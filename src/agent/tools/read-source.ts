import { type Tool, tool } from '@openai/agents-core';
import * as z from 'zod';
import { createRetrievalContext } from '../../domain/retrieval-context.ts';
import {
  failedToolResponse,
  type RetrievalToolResponse,
  toToolResponse,
} from '../../domain/retrieval-tool-response.ts';
import { messageOf } from '../../faults/app-error.ts';
import { READ_SOURCE } from '../agent.ts';
import { mayUseTools, type TurnState } from '../turn-state.ts';
import { checkArguments, strictSchema } from './tool-arguments.ts';

const NEIGHBOURS = 2;

const readSourceArguments = z.strictObject({
  ref: z.string().trim().min(1).describe('The ref of a search result.'),
});

/** Reading around a hit, as the SDK takes it. Counts like a search: both bring passages from the collection. */
export function createReadSourceTool(turn: TurnState): Tool {
  const { record, runtime, signal } = turn;
  return tool({
    name: READ_SOURCE,
    description:
      'Read what stands around a search result in its document. Each passage has a ref of its own to cite.',
    strict: true,
    parameters: strictSchema(readSourceArguments),
    isEnabled: () => mayUseTools(turn),
    async execute(args) {
      const started = runtime.elapsedMs();
      try {
        return JSON.stringify(await readSource(turn, args));
      } catch (error) {
        signal?.throwIfAborted();
        return JSON.stringify(
          failedToolResponse('retrieval_failed', `The source could not be read: ${messageOf(error)}`),
        );
      } finally {
        record.toolUsed(runtime.elapsedMs() - started);
      }
    },
  });
}

/** The neighbourhood of a hit. What the model got wrong is a result that it can act on. */
async function readSource(turn: TurnState, args: unknown): Promise<RetrievalToolResponse> {
  const { store, sources, room, runtime } = turn;
  const checked = checkArguments(readSourceArguments, args);
  if (!checked.success) return failedToolResponse('invalid_arguments', checked.fault);
  const ref = checked.data.ref.replace(/^\[|\]$/g, '');
  const hit = sources.chunkOf(ref);
  if (hit === undefined) {
    return failedToolResponse('unknown_ref', `There is no search result with the ref ${ref}.`);
  }
  const started = runtime.elapsedMs();
  const chunks = await store.neighbours(hit.chunkId, NEIGHBOURS, NEIGHBOURS);
  if (chunks.length === 0) {
    return failedToolResponse('unknown_ref', `The source with the ref ${ref} is no longer there.`);
  }
  const context = createRetrievalContext({
    query: ref,
    chunks: chunks.map((chunk) => ({ ...chunk, score: hit.score })),
    scoreThreshold: 0,
    queryTimeMs: runtime.elapsedMs() - started,
    retrievedAt: runtime.now().toISOString(),
  });
  const distanceTo = ({ chunkIndex }: { chunkIndex: number }) => Math.abs(chunkIndex - hit.chunkIndex);
  const shown = room.show(context, { importanceOf: (chunk) => -distanceTo(chunk) });
  return toToolResponse(shown, sources.register);
}
