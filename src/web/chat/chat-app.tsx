import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { CheckedSentence } from '../../domain/checked-sentence.ts';
import type { Citation } from '../../domain/citation.ts';
import {
  type CollectionOption,
  chatApi,
  describeRequestError,
  HttpStatusError,
  type RecentSessions,
  type ServerInfo,
} from './chat-api.ts';
import { describeTurnStatus } from './chat-turn.ts';
import { ErrorMessage } from './error-message.tsx';
import { useAutoScroll, useNarrowLayout } from './layout-hooks.ts';
import { QuestionComposer } from './question-composer.tsx';
import { ChatSettings, SessionList } from './sidebar.tsx';
import { SourcePanel } from './source-panel.tsx';
import { ConversationResetNote, TurnView } from './turn-view.tsx';
import { useConversation } from './use-conversation.ts';
import { TokenForm, WelcomeMessage } from './welcome.tsx';

interface OpenedSource {
  citation: Citation;
  /** For which the source was opened. */
  sentences: readonly CheckedSentence[];
  turn: number;
}

/** The list of conversations, the current one, and the source of an opened citation. */
export function ChatApp() {
  const [server, setServer] = useState<ServerInfo | null>(null);
  const [needsToken, setNeedsToken] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [collections, setCollections] = useState<CollectionOption[]>([]);
  const [sessions, setSessions] = useState<RecentSessions>({ sessions: [], more: false });
  const [policy, setPolicy] = useState<RetrievalPolicy>();
  const [selectedCollection, setSelectedCollection] = useState<string>();
  const [openedSource, setOpenedSource] = useState<OpenedSource | null>(null);
  const [isMenuOpen, setMenuOpen] = useState(false);
  /** The element that gets the focus back when the source is closed. */
  const opener = useRef<HTMLElement | null>(null);
  const menuButton = useRef<HTMLButtonElement>(null);
  const isNarrow = useNarrowLayout();
  const chat = useConversation({
    onTurnStored: listSessions,
    onNavigate: (sessionId) => leaveTo(sessionId === '' ? chat.startNew() : chat.resume(sessionId)),
  });
  const { conversation, isRunning } = chat;
  const autoScroll = useAutoScroll(conversation.turns);
  const collection = conversation.collection ?? selectedCollection;

  function showErrors(work: Promise<unknown>): void {
    work.catch((cause: unknown) => {
      if (cause instanceof HttpStatusError && cause.status === 401) setNeedsToken(true);
      else setError(describeRequestError(cause));
    });
  }

  function listSessions(): void {
    showErrors(chatApi.sessions().then(setSessions));
  }

  async function load(): Promise<void> {
    const [info, available] = await Promise.all([chatApi.serverInfo(), chatApi.collections()]);
    setServer(info);
    setPolicy(info.policy);
    setCollections(available.collections);
    setSelectedCollection(available.default);
    listSessions();
    const sessionId = location.hash.slice(1);
    if (sessionId !== '') await chat.resume(sessionId);
  }

  useEffect(() => showErrors(load()), []);
  useEffect(() => addEventListener('focus', listSessions), []);
  // Another tab, or a chat in a terminal, may have continued the conversation.
  useEffect(() => {
    const stored = sessions.sessions.find(({ sessionId }) => sessionId === conversation.sessionId);
    const shown = conversation.turns.filter(({ turn }) => turn !== null).length;
    if (stored !== undefined && stored.turnCount > shown && !isRunning)
      showErrors(chat.resume(stored.sessionId));
  }, [sessions]);
  // The panel makes the conversation narrower, which moves what was clicked.
  useLayoutEffect(() => opener.current?.scrollIntoView({ block: 'nearest' }), [openedSource]);
  // A layout effect, because an effect after painting could miss a key pressed at once.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (openedSource !== null) closeSource();
      else if (isMenuOpen) closeMenu();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [openedSource, isMenuOpen]);

  function openSource(source: OpenedSource): void {
    const focused = document.activeElement as HTMLElement | null;
    // Elements of the panel disappear with it.
    if (focused?.closest('.source') == null) opener.current = focused;
    setOpenedSource(source);
  }

  function closeSource(): void {
    setOpenedSource(null);
    opener.current?.focus();
    opener.current = null;
  }

  function closeMenu(): void {
    setMenuOpen(false);
    menuButton.current?.focus();
  }

  /** Switches to another conversation. */
  function leaveTo(work: Promise<void>): void {
    setOpenedSource(null);
    setMenuOpen(false);
    setError(null);
    showErrors(work);
    document.getElementById('question')?.focus();
  }

  async function deleteSession(sessionId: string): Promise<void> {
    // A session with a running turn cannot be deleted.
    if (sessionId === conversation.sessionId) await chat.startNew();
    await chatApi.deleteSession(sessionId);
    listSessions();
  }

  function ask(question: string): void {
    setError(null);
    if (isNarrow) setOpenedSource(null);
    chat.ask(question, { policy, collection: selectedCollection });
  }

  if (needsToken) {
    return (
      <TokenForm
        onSubmit={() => {
          setNeedsToken(false);
          showErrors(load());
        }}
      />
    );
  }

  const settings = (
    <ChatSettings
      server={server}
      policy={policy}
      onPolicy={setPolicy}
      collections={collections}
      collection={collection}
      isCollectionFixed={conversation.collection !== null}
      onCollection={setSelectedCollection}
    />
  );
  return (
    <div class={`layout${isMenuOpen ? ' with-menu' : ''}${openedSource === null ? '' : ' with-source'}`}>
      <header class="bar">
        <button
          type="button"
          class="menu"
          ref={menuButton}
          aria-label="Conversations and settings"
          aria-expanded={isMenuOpen}
          aria-controls="conversations"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {isMenuOpen ? '✕' : '☰'}
        </button>
        <h1>citeloop</h1>
        {isNarrow ? <span class="quiet place">{collection}</span> : settings}
      </header>
      <nav id="conversations" class="side" aria-label="Conversations">
        {isNarrow && settings}
        <div class="side-actions">
          <button type="button" onClick={() => leaveTo(chat.startNew())}>
            New
          </button>
          <button
            type="button"
            disabled={conversation.sessionId === null || isRunning}
            title="Keep this conversation, but answer the next question without the earlier ones"
            onClick={() => leaveTo(chat.reset())}
          >
            Start over
          </button>
        </div>
        <SessionList
          {...sessions}
          current={conversation.sessionId}
          onResume={(id) => leaveTo(chat.resume(id))}
          onDelete={(id) => leaveTo(deleteSession(id))}
        />
      </nav>
      <main {...autoScroll}>
        {error !== null && <ErrorMessage text={error} />}
        {conversation.turns.length === 0 && (
          <WelcomeMessage server={server} collection={collections.find(({ name }) => name === collection)} />
        )}
        {conversation.turns.map((state, index) => (
          <TurnView
            key={`${conversation.serial} ${index}`}
            state={state}
            isAfterReset={conversation.resets.includes(index)}
            number={index + 1}
            onOpenSource={(citation, sentences) => openSource({ citation, sentences, turn: index })}
            onAskAgain={
              !isRunning && index === conversation.turns.length - 1 ? () => ask(state.question) : null
            }
          />
        ))}
        {conversation.turns.length > 0 && conversation.resets.includes(conversation.turns.length) && (
          <ConversationResetNote />
        )}
      </main>
      <p class="unseen" role="status" aria-live="polite">
        {describeTurnStatus(conversation.turns.at(-1))}
      </p>
      <QuestionComposer isRunning={isRunning} onAsk={ask} onStop={chat.stop} />
      {openedSource !== null && (
        <SourcePanel
          key={`${openedSource.turn} ${openedSource.citation.marker} ${openedSource.sentences[0]?.start}`}
          citation={openedSource.citation}
          sentences={openedSource.sentences}
          collection={collection}
          onClose={closeSource}
        />
      )}
    </div>
  );
}
