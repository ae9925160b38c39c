import type { SessionSummary } from '../ports/session-store.ts';

interface SessionListProps {
  sessions: readonly SessionSummary[];
  current: string | null;
  onResume: (sessionId: string) => void;
  onForget: (sessionId: string) => void;
}

/** Every conversation that is kept, newest first. */
export function SessionList({ sessions, current, onResume, onForget }: SessionListProps) {
  if (sessions.length === 0) return <p class="quiet">Conversations are kept here.</p>;
  return (
    <ul class="sessions">
      {sessions.map(({ sessionId, title, updatedAt, turnCount, collection }) => (
        <li key={sessionId} class={sessionId === current ? 'current' : ''}>
          <button
            type="button"
            class="resume"
            aria-current={sessionId === current ? 'true' : undefined}
            onClick={() => onResume(sessionId)}
          >
            <span class="title">{title ?? 'Nothing asked yet'}</span>
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
  );
}

function dateOf(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
