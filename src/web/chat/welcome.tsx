import { useEffect, useRef, useState } from 'preact/hooks';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { formatCount } from '../../text/format-count.ts';
import { type CollectionOption, hasStoredToken, type ServerInfo, storeToken } from './chat-api.ts';
import { ErrorMessage } from './error-message.tsx';

interface WelcomeProps {
  server: ServerInfo | null;
  collection: CollectionOption | undefined;
}

/** Fills a conversation without turns. */
export function WelcomeMessage({ server, collection }: WelcomeProps) {
  return (
    <div class="welcome">
      <h2>Ask your documents</h2>
      <p>Every answer shows its sources. Every citation is checked against the passage it cites.</p>
      {collection !== undefined && (
        <p class="quiet">
          {collection.name}: {formatCount(collection.documents, 'document')},{' '}
          {formatCount(collection.chunks, 'passage')}
        </p>
      )}
      {server?.model === OFFLINE_MODEL && (
        <p class="quiet">No model is configured: answers are quotes from the documents.</p>
      )}
    </div>
  );
}

/** Shown if the server requires a token. */
export function TokenForm({ onSubmit }: { onSubmit: () => void }) {
  const [text, setText] = useState('');
  const [wasRejected] = useState(hasStoredToken);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <main class="token">
      <h1>citeloop</h1>
      <p>Enter the token that the server was started with.</p>
      {wasRejected && <ErrorMessage text="The server rejected this token." />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          storeToken(text.trim());
          onSubmit();
        }}
      >
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={text.trim() === ''}>
          Continue
        </button>
      </form>
    </main>
  );
}
