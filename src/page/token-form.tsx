import { useEffect, useRef, useState } from 'preact/hooks';
import { hasToken, setToken } from './api.ts';

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
