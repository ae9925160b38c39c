import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RetrievalPolicy } from '../../domain/agent-config.ts';
import type { SentenceEvidence } from '../../domain/checked-sentence.ts';
import type { Citation } from '../../domain/citation.ts';
import {
  type CollectionOption,
  chatApi,
  describeRequestError,
  HttpStatusError,
  type RecentSessions,
  type ServerInfo,
} from './chat-api.ts';
import { type ChatTurn, describeTurnStatus } from './chat-turn.ts';
import { useAutoScroll, useNarrowLayout } from './layout-hooks.ts';
import { QuestionComposer } from './question-composer.tsx';
import { ChatSettings, SessionList } from './sidebar.tsx';
import { SourcePanel } from './source-panel.tsx';
import { ConversationResetNote, TurnView } from './turn-view.tsx';
import { useConversation } from './use-conversation.ts';
import { TokenForm, WelcomeMessage } from './welcome.tsx';

interface OpenedSource {
  citation: Citation;
  /** Of the answer that contains the citation. */
  evidence: SentenceEvidence[];
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
    onNavigate: (sessionId) => leaveTo(sessionId === '' ? chat.startNew() : resume(sessionId)),
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
    if (sessionId !== '') await resume(sessionId);
  }

  /** Starts a new conversation if the session cannot be loaded, then throws. */
  async function resume(sessionId: string): Promise<void> {
    try {
      await chat.resume(sessionId);
    } catch (cause) {
      await chat.startNew();
      throw cause;
    }
  }

  useEffect(() => showErrors(load()), []);
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
          onResume={(id) => leaveTo(resume(id))}
          onDelete={(id) => leaveTo(deleteSession(id))}
        />
      </nav>
      <main {...autoScroll}>
        {error !== null && (
          <p class="failure" role="alert">
            {error}
          </p>
        )}
        {conversation.turns.length === 0 && (
          <WelcomeMessage server={server} collection={collections.find(({ name }) => name === collection)} />
        )}
        {conversation.turns.map((state, index) => (
          <TurnView
            key={`${conversation.serial} ${index}`}
            state={state}
            isAfterReset={conversation.resets.includes(index)}
            number={index + 1}
            onOpenSource={(citation) => openSource({ citation, evidence: evidenceOf(state), turn: index })}
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
          key={`${openedSource.turn} ${openedSource.citation.marker}`}
          citation={openedSource.citation}
          evidence={openedSource.evidence}
          collection={collection}
          onClose={closeSource}
        />
      )}
    </div>
  );
}

/** In order and without overlaps. */
function evidenceOf({ turn }: ChatTurn): SentenceEvidence[] {
  const found = turn?.response.sentences.flatMap(({ evidence }) => evidence ?? []) ?? [];
  return found
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(
      (one, index, all) =>
        !all.slice(0, index).some((other) => other.chunkId === one.chunkId && other.end > one.start),
    );
}
