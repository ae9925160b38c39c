import type { Agent } from '../../agent/agent.ts';
import type { Filter } from '../../domain/query.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { Retriever } from '../../retrieval/create-retriever.ts';

export interface McpCollection {
  store: Pick<ChunkStore, 'name' | 'chunks' | 'neighbours'>;
  retriever: Retriever;
  /** Number of passages if a search does not say. */
  topK: number;
}

/** What an MCP server serves: one collection and an agent that answers from it. */
export interface McpLibrary {
  /** The name of the model that answers. */
  readonly model: string;
  /** Opened by the first call, again after a failure. Throws AppErrors. */
  collection(): Promise<McpCollection>;
  /** Created by the first call, like `collection`. */
  agent(): Promise<Agent>;
  /** The filter for a module. Throws `invalid_input` if the collection has no such module. */
  moduleFilter(module: string | null | undefined): Promise<Filter>;
  /** Removes the secrets of this process from a text. */
  withoutSecrets(text: string): string;
}
