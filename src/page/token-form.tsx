import { useState } from 'preact/hooks';
import { setToken } from './api.ts';

/** Asks for the token that the server was started with. */
export function TokenForm({ onGiven }: { onGiven: () => void }) {
  const [text, setText] = useState('');
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(text.trim());
        onGiven();
      }}
    >
      <h1>citeloop</h1>
      <p>This server wants the token that it was started with.</p>
      <label for="token">Token</label>
      <input
        id="token"
        type="password"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={text.trim() === ''}>
        Go on
      </button>
    </form>
  );
}
