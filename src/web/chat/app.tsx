import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Policy } from '../../domain/agent-config.ts';
import type { Citation } from '../../domain/citation.ts';
import { type About, api, type CollectionChoice, RefusedError, type SessionPage, sentenceOf } from './api.ts';
import { Composer } from './composer.tsx';
import { useFollowing, useNarrow } from './hooks.ts';
import { SessionList, Settings } from './sidebar.tsx';
import { SourcePanel } from './source-panel.tsx';
import { statusLine } from './turn-state.ts';
import { ResetNote, TurnView } from './turn-view.tsx';
import { useConversation } from './use-conversation.ts';
import { TokenForm, Welcome } from './welcome.tsx';

/** A citation that is looked at, and the text of the turn that cites it. */
interface OpenedSource {
  citation: Citation;
  answer: string;
  turn: number;
}

/** The page: conversations on one side, the one at hand in the middle, the source of a citation on the other. */
export function App() {
  const [about, setAbout] = useState<About | null>(null);
  const [locked, setLocked] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [collections, setCollections] = useState<CollectionChoice[]>([]);
  const [listed, setListed] = useState<SessionPage>({ sessions: [], more: false });
  const [policy, setPolicy] = useState<Policy>();
  const [chosen, setChosen] = useState<string>();
  const [opened, setOpened] = useState<OpenedSource | null>(null);
  const [menu, setMenu] = useState(false);
  const opener = useRef<HTMLElement | null>(null);
  const menuButton = useRef<HTMLButtonElement>(null);
  const isNarrow = useNarrow();
  const talk = useConversation({
    onKept: listSessions,
    onAddress: (wanted) => leaveTo(wanted === '' ? talk.startNew() : resume(wanted)),
  });
  const { conversation, isRunning } = talk;
  const following = useFollowing(conversation.turns);
  const collection = conversation.collection ?? chosen;

  function guarded(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (error instanceof RefusedError && error.status === 401) setLocked(true);
      else setFault(sentenceOf(error));
    });
  }

  function listSessions(): void {
    guarded(api.sessions().then(setListed));
  }

  async function load(): Promise<void> {
    const [told, known] = await Promise.all([api.about(), api.collections()]);
    setAbout(told);
    setPolicy(told.policy);
    setCollections(known.collections);
    setChosen(known.default);
    listSessions();
    const wanted = location.hash.slice(1);
    if (wanted !== '') await resume(wanted);
  }

  /** One that is gone leaves an empty page, and the reason. */
  async function resume(sessionId: string): Promise<void> {
    try {
      await talk.resume(sessionId);
    } catch (error) {
      await talk.startNew();
      throw error;
    }
  }

  useEffect(() => guarded(load()), []);
  // Before the next key: an effect after painting may come too late for someone quick.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (opened !== null) closeSource();
      else if (menu) closeMenu();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [opened, menu]);

  function openSource(source: OpenedSource): void {
    const focused = document.activeElement as HTMLElement | null;
    // Another source may be opened from within the answer only: what is in the panel goes away with it.
    if (focused?.closest('.source') == null) opener.current = focused;
    setOpened(source);
  }

  function closeSource(): void {
    setOpened(null);
    opener.current?.focus();
    opener.current = null;
  }

  function closeMenu(): void {
    setMenu(false);
    menuButton.current?.focus();
  }

  function leaveTo(work: Promise<void>): void {
    setOpened(null);
    setMenu(false);
    setFault(null);
    guarded(work);
    document.getElementById('question')?.focus();
  }

  async function forget(sessionId: string): Promise<void> {
    // A turn that runs holds its session.
    if (sessionId === conversation.sessionId) await talk.startNew();
    await api.forget(sessionId);
    listSessions();
  }

  function ask(question: string): void {
    setFault(null);
    talk.ask(question, { policy, collection: chosen });
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

  const settings = (
    <Settings
      about={about}
      policy={policy}
      onPolicy={setPolicy}
      collections={collections}
      collection={collection}
      isFixed={conversation.collection !== null}
      onCollection={setChosen}
    />
  );
  return (
    <div class={`layout${menu ? ' with-menu' : ''}${opened === null ? '' : ' with-source'}`}>
      <header class="bar">
        <button
          type="button"
          class="menu"
          ref={menuButton}
          aria-label="Conversations and settings"
          aria-expanded={menu}
          aria-controls="conversations"
          onClick={() => setMenu(!menu)}
        >
          {menu ? '✕' : '☰'}
        </button>
        <h1>citeloop</h1>
        {isNarrow ? <span class="quiet place">{collection}</span> : settings}
      </header>
      <nav id="conversations" class="side" aria-label="Conversations">
        {isNarrow && settings}
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
          {...listed}
          current={conversation.sessionId}
          onResume={(id) => leaveTo(resume(id))}
          onForget={(id) => leaveTo(forget(id))}
        />
      </nav>
      <main {...following}>
        {fault !== null && (
          <p class="failure" role="alert">
            {fault}
          </p>
        )}
        {conversation.turns.length === 0 && (
          <Welcome
            about={about}
            collection={collections.find(({ name }) => name === collection)}
            onAsk={ask}
          />
        )}
        {conversation.turns.map((state, index) => (
          <TurnView
            key={`${conversation.serial} ${index}`}
            state={state}
            isAfterReset={conversation.resets.includes(index)}
            number={index + 1}
            onOpen={(citation) => openSource({ citation, answer: state.text, turn: index })}
            onJudge={(verdict) => guarded(talk.judge(index, verdict))}
            onAgain={!isRunning && index === conversation.turns.length - 1 ? () => ask(state.question) : null}
          />
        ))}
        {conversation.turns.length > 0 && conversation.resets.includes(conversation.turns.length) && (
          <ResetNote />
        )}
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {statusLine(conversation.turns.at(-1))}
      </p>
      <Composer isRunning={isRunning} onAsk={ask} onStop={talk.stop} />
      {opened !== null && (
        <SourcePanel
          key={`${opened.turn} ${opened.citation.marker}`}
          citation={opened.citation}
          answer={opened.answer}
          collection={collection}
          onClose={closeSource}
        />
      )}
    </div>
  );
}
