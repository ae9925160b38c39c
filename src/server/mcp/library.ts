import type { Agent } from '../../agent/agent.ts';
import type { Filter } from '../../domain/query.ts';
import type { ChunkStore } from '../../ports/chunk-store.ts';
import type { Retriever } from '../../retrieval/create-retriever.ts';

/** A collection that is open for reading. */
export interface LibraryCollection {
  store: Pick<ChunkStore, 'name' | 'info' | 'documents' | 'read' | 'chunks' | 'neighbours'>;
  retriever: Retriever;
  /** Passages of a search that does not say how many it wants. */
  topK: number;
}

/** What an MCP server serves: one collection, and an agent that answers from it. */
export interface Library {
  /** The name of the model that answers. */
  readonly model: string;
  /** Opened when first asked for, and tried again after a failure, which is an AppError. */
  collection(): Promise<LibraryCollection>;
  /** Likewise. */
  agent(): Promise<Agent>;
  /** The filter that a module stands for. Throws `invalid_input` for one that the collection does not have. */
  moduleFilter(module: string | null | undefined): Promise<Filter>;
  /** A text of ours without any key that this process holds. */
  withoutSecrets(text: string): string;
}
