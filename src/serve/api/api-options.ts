import type { SessionStore } from '../../ports/session-store.ts';
import type { ServedCollections } from '../served-collections.ts';
import type { SessionLocks } from '../turns/session-locks.ts';
import type { TurnRunner } from '../turns/turn-runner.ts';

/** What the routes of the page work with. */
export interface ApiOptions {
  collections: ServedCollections;
  sessions: SessionStore;
  locks: SessionLocks;
  turns: TurnRunner;
  /** The name of the model that answers. */
  model: string;
  maxBodyBytes: number;
}
