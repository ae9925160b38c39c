import { useEffect, useRef, useState } from 'preact/hooks';
import { type About, type CollectionChoice, hasToken, setToken } from './api.ts';

interface WelcomeProps {
  about: About | null;
  collection: CollectionChoice | undefined;
}

/** What is there before anything was asked. */
export function Welcome({ about, collection }: WelcomeProps) {
  return (
    <div class="welcome">
      <h2>Ask your documents</h2>
      <p>Every answer shows its sources, and every citation was checked against the passage it points at.</p>
      {collection !== undefined && (
        <p class="quiet">
          {collection.name}: {counted(collection.documents, 'document')},{' '}
          {counted(collection.chunks, 'passage')}
        </p>
      )}
      {about?.model === 'offline' && (
        <p class="quiet">The offline model is extractive: it quotes the documents word for word.</p>
      )}
    </div>
  );
}

function counted(count: number, thing: string): string {
  return `${count.toLocaleString()} ${count === 1 ? thing : `${thing}s`}`;
}

/** Asks for the token that the server was started with. */
export function TokenForm({ onGiven }: { onGiven: () => void }) {
  const [text, setText] = useState('');
  const [wasRefused] = useState(hasToken);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <main class="token">
      <h1>citeloop</h1>
      <p>This server wants the token that it was started with.</p>
      {wasRefused && (
        <p class="failure" role="alert">
          The server did not take that token.
        </p>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setToken(text.trim());
          onGiven();
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
          Go on
        </button>
      </form>
    </main>
  );
}
