import { useEffect, useRef, useState } from 'preact/hooks';
import type { Policy } from '../domain/agent-config.ts';
import type { Citation } from '../domain/citation.ts';
import type { SessionSummary } from '../ports/session-store.ts';
import { type About, api, type CollectionChoice, RefusedError } from './api.ts';
import { Composer } from './composer.tsx';
import { SessionList } from './session-list.tsx';
import { Settings } from './settings.tsx';
import { SourcePanel } from './source-panel.tsx';
import { TokenForm } from './token-form.tsx';
import { TurnView } from './turn-view.tsx';
import { useConversation } from './use-conversation.ts';

/** The page: conversations on one side, the one at hand in the middle, the source of a citation on the other. */
export function App() {
  const [about, setAbout] = useState<About | null>(null);
  const [locked, setLocked] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [collections, setCollections] = useState<CollectionChoice[]>([]);
  const [sessions, setSessions] = useState<SessionSummary[]>([]);
  const [policy, setPolicy] = useState<Policy>('tool');
  const [collection, setCollection] = useState('');
  const [opened, setOpened] = useState<{ citation: Citation; answer: string } | null>(null);
  const [menu, setMenu] = useState(false);
  const opener = useRef<HTMLElement | null>(null);
  const end = useRef<HTMLDivElement>(null);
  const talk = useConversation(listSessions);
  const { conversation, isRunning } = talk;
  const last = conversation.turns.at(-1);

  function guarded(work: Promise<unknown>): void {
    work.then(
      () => setFault(null),
      (error: Error) => {
        if (error instanceof RefusedError && error.status === 401) setLocked(true);
        else setFault(error instanceof RefusedError ? error.message : 'The server cannot be reached.');
      },
    );
  }

  function listSessions(): void {
    guarded(api.sessions().then(({ sessions: found }) => setSessions(found)));
  }

  async function load(): Promise<void> {
    const [told, known] = await Promise.all([api.about(), api.collections()]);
    setAbout(told);
    setPolicy(told.policy);
    setCollections(known.collections);
    setCollection(known.default);
    listSessions();
    const wanted = location.hash.slice(1);
    if (wanted !== '') await talk.resume(wanted).catch(() => talk.startNew());
  }

  useEffect(() => guarded(load()), []);
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'end' });
  }, [conversation.turns.length, last?.text, last?.status]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') closeSource();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  function openSource(citation: Citation, answer: string): void {
    opener.current = document.activeElement as HTMLElement | null;
    setOpened({ citation, answer });
  }

  function closeSource(): void {
    setOpened(null);
    setMenu(false);
    opener.current?.focus();
    opener.current = null;
  }

  function leaveTo(work: Promise<void>): void {
    setOpened(null);
    setMenu(false);
    guarded(work);
  }

  function ask(question: string): void {
    talk.ask(question, policy, collection);
  }

  if (locked) {
    return (
      <TokenForm
        onGiven={() => {
          setLocked(false);
          guarded(load());
        }}
      />
    );
  }

  return (
    <div class={`layout${menu ? ' with-menu' : ''}${opened === null ? '' : ' with-source'}`}>
      <header class="bar">
        <button
          type="button"
          class="menu"
          aria-expanded={menu}
          aria-controls="conversations"
          onClick={() => setMenu(!menu)}
        >
          ☰<span class="hidden">Conversations</span>
        </button>
        <h1>citeloop</h1>
        <Settings
          about={about}
          policy={policy}
          onPolicy={setPolicy}
          collections={collections}
          collection={conversation.collection ?? collection}
          isFixed={conversation.collection !== null}
          onCollection={setCollection}
        />
      </header>
      <nav id="conversations" class="side" aria-label="Conversations">
        <div class="side-actions">
          <button type="button" onClick={() => leaveTo(talk.startNew())}>
            New
          </button>
          <button
            type="button"
            disabled={conversation.sessionId === null || isRunning}
            onClick={() => leaveTo(talk.reset())}
          >
            Reset
          </button>
        </div>
        <SessionList
          sessions={sessions}
          current={conversation.sessionId}
          onResume={(id) => leaveTo(talk.resume(id))}
          onForget={(id) => {
            guarded(api.forget(id).then(listSessions));
            if (id === conversation.sessionId) leaveTo(talk.startNew());
          }}
        />
      </nav>
      <main>
        {fault !== null && (
          <p class="failure" role="alert">
            {fault}
          </p>
        )}
        {conversation.turns.length === 0 && (
          <div class="welcome">
            <h2>Ask your documents</h2>
            <p>
              Every answer shows its sources, and every citation was checked against the passage it points at.
            </p>
            {about?.model === 'offline' && (
              <p class="quiet">The offline model is extractive: it quotes the documents word for word.</p>
            )}
          </div>
        )}
        {conversation.turns.map((state, index) => (
          <TurnView
            key={`${conversation.sessionId}-${index}`}
            state={state}
            number={index + 1}
            onOpen={(citation) => openSource(citation, state.text)}
            onJudge={(verdict) => guarded(talk.judge(index, verdict))}
          />
        ))}
        <div ref={end} />
      </main>
      <p class="hidden" role="status" aria-live="polite">
        {statusOf(last)}
      </p>
      <Composer isRunning={isRunning} onAsk={ask} onStop={talk.stop} />
      {opened !== null && (
        <SourcePanel {...opened} collection={conversation.collection ?? collection} onClose={closeSource} />
      )}
    </div>
  );
}

/** What a screen reader says: not each word, but each step. */
function statusOf(
  last: ReturnType<typeof useConversation>['conversation']['turns'][number] | undefined,
): string {
  if (last === undefined) return '';
  if (last.status === 'running') return last.activity;
  if (last.status !== 'done') return last.status;
  const { length } = last.citations;
  return `Answer complete, ${last.turn?.response.grounded ? 'grounded' : 'not grounded'}, ${length} citations.`;
}
