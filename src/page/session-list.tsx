import type { SessionSummary } from '../ports/session-store.ts';
import { revealHidden } from './reveal-hidden.ts';

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
