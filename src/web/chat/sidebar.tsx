import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import { formatCount } from '../../text/format-count.ts';
import { type ThemeName, useTheme } from '../shared/theme.ts';
import type { CollectionOption, RecentSessions, ServerInfo } from './chat-api.ts';
import { revealHiddenCharacters } from './hidden-characters.ts';

interface ChatSettingsProps {
  server: ServerInfo | null;
  /** Undefined until the server has responded. */
  policy: RetrievalPolicy | undefined;
  onPolicy: (policy: RetrievalPolicy) => void;
  collections: readonly CollectionOption[];
  collection: string | undefined;
  /** A conversation cannot change its collection. */
  isCollectionFixed: boolean;
  onCollection: (name: string) => void;
}

const POLICY_LABELS: Record<RetrievalPolicy, string> = {
  tool: 'model decides',
  always: 'always',
  first: 'on the first step',
  never: 'never',
};

export function ChatSettings(props: ChatSettingsProps) {
  const { server, policy, onPolicy, collections, collection, isCollectionFixed, onCollection } = props;
  const [theme, setTheme] = useTheme();
  return (
    <div class="settings">
      <label>
        <span>Collection</span>
        <select
          value={collection}
          disabled={isCollectionFixed}
          title={isCollectionFixed ? 'Start a new conversation to change the collection' : undefined}
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
        <select value={policy} onChange={(event) => onPolicy(event.currentTarget.value as RetrievalPolicy)}>
          {(server?.policies ?? []).map((option) => (
            <option key={option} value={option}>
              {POLICY_LABELS[option]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>Theme</span>
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as ThemeName)}>
          <option value="system">system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
    </div>
  );
}

interface SessionListProps extends RecentSessions {
  current: string | null;
  onResume: (sessionId: string) => void;
  onDelete: (sessionId: string) => void;
}

export function SessionList({ sessions, more, current, onResume, onDelete }: SessionListProps) {
  if (sessions.length === 0) return <p class="quiet">No conversations yet.</p>;
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
              <bdi class="title">{revealHiddenCharacters(title ?? 'No question yet')}</bdi>
              <span class="quiet">
                {formatDate(updatedAt)} · {formatCount(turnCount, 'turn')} · {collection}
              </span>
            </button>
            <button
              type="button"
              class="delete"
              aria-label={`Delete the conversation: ${title ?? 'no question yet'}`}
              onClick={() => {
                if (confirm('Delete this conversation? This cannot be undone.')) onDelete(sessionId);
              }}
            >
              ✕
            </button>
          </li>
        ))}
      </ul>
      {more && <p class="quiet">To list older conversations, run “citeloop sessions”.</p>}
    </>
  );
}

/** The time if it is today, otherwise the date. */
function formatDate(iso: string): string {
  const date = new Date(iso);
  return date.toDateString() === new Date().toDateString()
    ? date.toLocaleTimeString(undefined, { timeStyle: 'short' })
    : date.toLocaleDateString(undefined, { dateStyle: 'medium' });
}
