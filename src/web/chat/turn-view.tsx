import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { mergeMarkers } from '../../citations/merge-markers.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { describeAnswerStatus, describeFlag, findFlagged } from '../../domain/answer-status.ts';
import type { Citation } from '../../domain/citation.ts';
import { shortenClosestPassages } from '../../domain/closest-passages.ts';
import { formatLocation } from '../../domain/format-location.ts';
import { formatCount } from '../../text/format-count.ts';
import { VerdictBadge } from '../shared/verdict-badge.tsx';
import { isSupportedVerdict, VERDICT_LABELS } from '../shared/verdict-labels.ts';
import type { ChatTurn } from './chat-turn.ts';
import { copyToClipboard, formatTurnAsMarkdown } from './copy-markdown.ts';
import { revealHiddenCharacters } from './hidden-characters.ts';
import { MarkdownView } from './markdown.tsx';

interface TurnViewProps {
  state: ChatTurn;
  number: number;
  /** Whether the conversation was reset before this turn. */
  isAfterReset: boolean;
  onOpenSource: (citation: Citation) => void;
  /** Null if the question cannot be asked again. */
  onAskAgain: (() => void) | null;
}

/** A question, its searches, its answer, and the checked citations. */
export function TurnView(props: TurnViewProps) {
  const { state, number, isAfterReset, onOpenSource, onAskAgain } = props;
  const { question, status, text, citations, error, notices, searches } = state;
  const [isExpanded, setExpanded] = useState(false);
  const query = searches[0]?.query ?? question;
  const excerpts = useMemo(() => shortenClosestPassages(text, query), [text, query]);
  const shown = isExpanded ? text : excerpts.text;
  const sentences = state.turn?.response.sentences;
  // Memoized so that events of another turn do not parse this answer again.
  const answer = useMemo(() => {
    // The offsets are valid in the full answer only, with all its markers.
    const marked = shown === text ? findFlagged(sentences ?? []) : [];
    const merged = marked.length > 0 ? shown : mergeMarkers(shown);
    return <MarkdownView text={merged} markers={markerButtons(citations, onOpenSource)} marked={marked} />;
  }, [text, shown, citations, sentences]);
  return (
    <article class="turn" aria-labelledby={`question-${number}`}>
      {isAfterReset && <ConversationResetNote />}
      <h2 class="question" id={`question-${number}`}>
        <bdi>{revealHiddenCharacters(question)}</bdi>
      </h2>
      <Searches state={state} />
      {[...new Set(notices)].map((notice) => (
        <p class="notice" key={notice}>
          {revealHiddenCharacters(notice)}
        </p>
      ))}
      {text !== '' && (
        <div class="answer" dir="auto" aria-busy={status === 'running'}>
          {answer}
        </div>
      )}
      {excerpts.truncatedMarkers.length > 0 && status !== 'running' && (
        <p>
          <button type="button" aria-expanded={isExpanded} onClick={() => setExpanded(!isExpanded)}>
            {isExpanded ? 'Show excerpts' : 'Show full passages'}
          </button>
        </p>
      )}
      {status === 'running' && (
        <p class="activity">
          <span class="spinner" aria-hidden="true" />
          <bdi>{revealHiddenCharacters(state.activity)}</bdi>
        </p>
      )}
      {status === 'stopped' && <p class="notice">Stopped. This turn was not saved.</p>}
      {error !== null && (
        <p class="failure" role="alert">
          {revealHiddenCharacters(error)}
        </p>
      )}
      {onAskAgain !== null && (status === 'failed' || status === 'stopped') && (
        <p>
          <button type="button" onClick={onAskAgain}>
            Ask again
          </button>
        </p>
      )}
      {state.turn !== null && (
        <>
          <Sources state={state} onOpenSource={onOpenSource} />
          <GroundingNote response={state.turn.response} />
          <Footer state={state} response={state.turn.response} />
        </>
      )}
    </article>
  );
}

export function ConversationResetNote() {
  return <p class="reset">Started over: the model does not see the questions above.</p>;
}

function Searches({ state: { searches, status } }: { state: ChatTurn }) {
  if (searches.length === 0) return null;
  const unfinished = status === 'running' ? 'searching…' : 'canceled';
  return (
    <ul class="searches" aria-label="Searches">
      {searches.map(({ id, query, found, error }) => (
        <li key={id}>
          <span aria-hidden="true">⌕</span> <q dir="auto">{revealHiddenCharacters(query)}</q>{' '}
          <span class="quiet">{error ?? (found === null ? unfinished : formatCount(found, 'passage'))}</span>
        </li>
      ))}
    </ul>
  );
}

function Sources({ state, onOpenSource }: Pick<TurnViewProps, 'state' | 'onOpenSource'>) {
  const { citations, turn } = state;
  if (citations.length === 0) return null;
  return (
    <ul class="sources" aria-label="Sources">
      {citations.map((citation) => {
        const { marker, verdict, chunkId, gone } = citation;
        if (chunkId === null) return null;
        return (
          <li key={marker}>
            <span class="marker">{revealHiddenCharacters(marker)}</span>
            <span class="source-line">
              <button type="button" class="link" onClick={() => onOpenSource(citation)}>
                <bdi>{revealHiddenCharacters(describeSource(citation, turn))}</bdi>
              </button>
              {!isSupportedVerdict(verdict) && <VerdictBadge verdict={verdict} />}
              {gone && <span class="badge stale">source file is missing</span>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The flagged sentences with their reasons, and one line about the check. */
function GroundingNote({ response }: { response: AgentResponse }) {
  return (
    <>
      {findFlagged(response.sentences).map((sentence) => (
        <p class="notice" key={sentence.start}>
          ⚠ <q dir="auto">{revealHiddenCharacters(sentence.text)}</q>{' '}
          {revealHiddenCharacters(describeFlag(sentence))}
        </p>
      ))}
      <p class="quiet">{describeAnswerStatus(response).sentence}</p>
    </>
  );
}

function Footer({ state, response }: { state: ChatTurn; response: AgentResponse }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const { grounded, model, tokensUsed, retrievalCount, totalTimeMs } = response;
  const retrievals = formatCount(retrievalCount, 'retrieval');
  return (
    <footer class="facts">
      <span class={`badge ${grounded ? 'supported' : 'ungrounded'}`}>
        {grounded ? '✓ grounded' : '○ not grounded'}
      </span>
      <span class="quiet">
        {model} · {tokensUsed.total} tokens · {retrievals} · {(totalTimeMs / 1000).toFixed(1)} s
      </span>
      <span class="actions">
        <button
          type="button"
          onClick={async () => setCopied(await copyToClipboard(formatTurnAsMarkdown(state)))}
        >
          {copied === null ? 'Copy as Markdown' : copied ? 'Copied' : 'Copying was blocked'}
        </button>
      </span>
    </footer>
  );
}

/** A button for the marker of each known source. */
function markerButtons(
  citations: readonly Citation[],
  onOpenSource: TurnViewProps['onOpenSource'],
): Map<string, VNode> {
  return new Map(
    citations
      .filter(({ chunkId }) => chunkId !== null)
      .map((citation) => {
        const { marker, title, verdict } = citation;
        const { symbol, text } = VERDICT_LABELS[verdict];
        return [
          marker,
          <button
            type="button"
            class={`cite ${verdict}`}
            aria-label={`Source ${marker}: ${revealHiddenCharacters(title)}, ${text}`}
            title={`${revealHiddenCharacters(title)} (${text})`}
            onClick={() => onOpenSource(citation)}
          >
            {marker}
            <span aria-hidden="true"> {symbol}</span>
          </button>,
        ];
      }),
  );
}

/** The document, the headings of the passage, and its location. */
function describeSource({ chunkId, title, url, location }: Citation, turn: ChatTurn['turn']): string {
  const chunks = turn?.retrievals.flatMap((retrieval) => retrieval.chunks) ?? [];
  const headings = chunks.find((chunk) => chunk.chunkId === chunkId)?.headings ?? [];
  const path = [title === '' ? url : title, ...headings.filter((heading) => heading !== title)].join(' › ');
  return location === undefined ? path : `${path}, ${formatLocation(location)}`;
}
