import type { Policy } from '../../domain/agent-config.ts';
import type { SessionSummary } from '../../ports/session-store.ts';
import { type Theme, useTheme } from '../shared/theme.ts';
import type { About, CollectionChoice } from './api.ts';
import { revealHidden } from './reveal-hidden.ts';

interface SettingsProps {
  about: About | null;
  /** Undefined until the server has told. */
  policy: Policy | undefined;
  onPolicy: (policy: Policy) => void;
  collections: readonly CollectionChoice[];
  collection: string | undefined;
  /** A conversation stays with its collection. */
  isFixed: boolean;
  onCollection: (name: string) => void;
}

const POLICY_WORDS: Record<Policy, string> = {
  tool: 'model decides',
  always: 'always',
  first: 'at first',
  never: 'never',
};

export function Settings(props: SettingsProps) {
  const { about, policy, onPolicy, collections, collection, isFixed, onCollection } = props;
  const [theme, setTheme] = useTheme();
  return (
    <div class="settings">
      <label>
        <span>Collection</span>
        <select
          value={collection}
          disabled={isFixed}
          title={isFixed ? 'A conversation stays with its collection' : undefined}
          onChange={(event) => onCollection(event.currentTarget.value)}
        >
          {collections.map(({ name, error }) => (
            <option key={name} value={name} disabled={error !== null}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Search</span>
        <select value={policy} onChange={(event) => onPolicy(event.currentTarget.value as Policy)}>
          {(about?.policies ?? []).map((choice) => (
            <option key={choice} value={choice}>
              {POLICY_WORDS[choice]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Colours</span>
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          <option value="system">system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
    </div>
  );
}

interface SessionListProps {
  sessions: readonly SessionSummary[];
  /** Whether there are more than these. */
  more: boolean;
  current: string | null;
  onResume: (sessionId: string) => void;
  onForget: (sessionId: string) => void;
}

/** Every conversation that is kept, newest first. */
export function SessionList({ sessions, more, current, onResume, onForget }: SessionListProps) {
  if (sessions.length === 0) return <p class="quiet">Conversations are kept here.</p>;
  return (
    <>
      <ul class="sessions">
        {sessions.map(({ sessionId, title, updatedAt, turnCount, collection }) => (
          <li key={sessionId} class={sessionId === current ? 'current' : ''}>
            <button
              type="button"
              class="resume"
              aria-current={sessionId === current ? 'true' : undefined}
              onClick={() => onResume(sessionId)}
            >
              <bdi class="title">{revealHidden(title ?? 'Nothing asked yet')}</bdi>
              <span class="quiet">
                {dateOf(updatedAt)} · {turnCount === 1 ? '1 turn' : `${turnCount} turns`} · {collection}
              </span>
            </button>
            <button
              type="button"
              class="forget"
              aria-label={`Delete the conversation: ${title ?? 'nothing asked yet'}`}
              onClick={() => {
                if (confirm('Delete this conversation for good?')) onForget(sessionId);
              }}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {more && <p class="quiet">Older ones are listed by citeloop sessions.</p>}
    </>
  );
}

/** The time of today, the date of another day. */
function dateOf(iso: string): string {
  const date = new Date(iso);
  return date.toDateString() === new Date().toDateString()
    ? date.toLocaleTimeString(undefined, { timeStyle: 'short' })
    : date.toLocaleDateString(undefined, { dateStyle: 'medium' });
}
