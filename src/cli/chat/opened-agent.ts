import type { Agent } from '../../agent/agent.ts';
import type { Filter } from '../../domain/filter.ts';
import type { SearchMode } from '../../domain/search-mode.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { TapeRun } from '../tape/tape-run.ts';

/** What a command adds to the configuration when it opens an agent. */
export interface OpenAgentOptions {
  mode?: SearchMode | undefined;
  /** Further tools for the model, beside the search. */
  tools?: readonly string[] | undefined;
  /** Instead of the configured model. */
  model?: string | undefined;
  /** The session that will go on; its collection is taken unless one is named. */
  session?: string | undefined;
  /** Checked for modules that the collection does not have. */
  filter?: Filter | undefined;
  /** What the run is recorded on or replayed from. */
  tape?: TapeRun | null | undefined;
}

/** An agent on an open collection, and where its conversations are kept. */
export interface OpenedAgent {
  agent: Agent;
  sessions: SessionStore;
  /** The collection that is really searched, which may be the sample. */
  collection: string;
  model: string;
  /** Closes the agent, the sessions and the collection. */
  close(): Promise<void>;
}
