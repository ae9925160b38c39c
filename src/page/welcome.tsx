import type { About, CollectionChoice } from './api.ts';

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
