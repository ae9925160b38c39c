import { useEffect, useRef, useState } from 'preact/hooks';
import { OFFLINE_MODEL } from '../../domain/choices.ts';
import { type About, api, type CollectionChoice, hasToken, setToken } from './api.ts';

interface WelcomeProps {
  about: About | null;
  collection: CollectionChoice | undefined;
  onAsk: (question: string) => void;
}

/** What is there before anything was asked. */
export function Welcome({ about, collection, onAsk }: WelcomeProps) {
  const [suggested, setSuggested] = useState<string[]>([]);
  const name = collection?.name;
  useEffect(() => {
    let isMeant = true;
    setSuggested([]);
    // Without suggestions the page is what it was: nothing is said of why there are none.
    if (name !== undefined)
      api.suggestions(name).then(
        ({ questions }) => isMeant && setSuggested(questions),
        () => {},
      );
    return () => {
      isMeant = false;
    };
  }, [name]);
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
      {about?.model === OFFLINE_MODEL && (
        <p class="quiet">The offline model is extractive: it quotes the documents word for word.</p>
      )}
      {suggested.length > 0 && (
        <ul class="suggestions" aria-label="Questions to begin with">
          {suggested.map((question) => (
            <li key={question}>
              <button type="button" onClick={() => onAsk(question)}>
                {question}
              </button>
            </li>
          ))}
        </ul>
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
