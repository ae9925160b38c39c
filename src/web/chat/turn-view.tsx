import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { findMarkers } from '../../citations/find-markers.ts';
import { findMergeEdits } from '../../citations/merge-markers.ts';
import type { AgentResponse } from '../../domain/agent-response.ts';
import { describeAnswerStatus, describeFlag, findFlagged } from '../../domain/answer-status.ts';
import type { CheckedSentence } from '../../domain/checked-sentence.ts';
import type { Citation } from '../../domain/citation.ts';
import { shortenClosestPassages } from '../../domain/closest-passages.ts';
import { formatLocation } from '../../domain/format-location.ts';
import { OFFLINE_MODEL } from '../../domain/setting-choices.ts';
import { formatCount } from '../../text/format-count.ts';
import { replaceRanges, shiftRange } from '../../text/markdown-blocks.ts';
import { VerdictBadge } from '../shared/verdict-badge.tsx';
import { isSupportedVerdict, VERDICT_LABELS } from '../shared/verdict-labels.ts';
import type { ChatTurn } from './chat-turn.ts';
import { copyToClipboard, formatTurnAsMarkdown } from './copy-markdown.ts';
import { ErrorMessage } from './error-message.tsx';
import { revealHiddenCharacters } from './hidden-characters.ts';
import { MarkdownView } from './markdown.tsx';

interface TurnViewProps {
  state: ChatTurn;
  number: number;
  /** Whether the conversation was reset before this turn. */
  isAfterReset: boolean;
  /** With the sentences for which the source is cited where it was opened. */
  onOpenSource: (citation: Citation, sentences: readonly CheckedSentence[]) => void;
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
    const edits = findMergeEdits(shown);
    const merged = replaceRanges(shown, edits);
    // The ranges are valid in the full answer only.
    const shifted = shown === text ? (sentences ?? []) : [];
    const moved = shifted.map((sentence) => ({ ...sentence, ...shiftRange(sentence, edits) }));
    const markers = markerButtons(merged, citations, moved, onOpenSource);
    return <MarkdownView text={merged} markers={markers} marked={findFlagged(moved)} />;
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
      {error !== null && <ErrorMessage text={revealHiddenCharacters(error)} />}
      {onAskAgain !== null && (status === 'failed' || status === 'stopped') && (
        <p>
          <button type="button" onClick={onAskAgain}>
            Ask again
          </button>
        </p>
      )}
      {state.turn !== null && (
        <>
          {findFlagged(sentences ?? []).map((sentence) => (
            <p class="flag" key={sentence.start}>
              ⚠ <q dir="auto">{revealHiddenCharacters(sentence.text.replace(/`|\*\*/g, ''))}</q>:{' '}
              {revealHiddenCharacters(describeFlag(sentence))}
            </p>
          ))}
          <Sources state={state} onOpenSource={onOpenSource} />
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
  const sentences = turn?.response.sentences ?? [];
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
              <button type="button" class="link" onClick={() => onOpenSource(citation, sentences)}>
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

/** One line about the check and, of a model that is paid or waited for, its cost. */
function Footer({ state, response }: { state: ChatTurn; response: AgentResponse }) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const { model, tokensUsed, totalTimeMs } = response;
  const cost = `${model} · ${tokensUsed.total.toLocaleString('en')} tokens · ${(totalTimeMs / 1000).toFixed(1)} s`;
  const facts = [
    describeAnswerStatus(response).sentence.replace(/\.$/, ''),
    model === OFFLINE_MODEL ? '' : cost,
  ];
  return (
    <footer class="facts">
      <span class="quiet">{facts.filter((fact) => fact !== '').join(' · ')}</span>
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

/** Creates the buttons for the markers of each known source. */
function markerButtons(
  answer: string,
  citations: readonly Citation[],
  sentences: readonly CheckedSentence[],
  onOpenSource: TurnViewProps['onOpenSource'],
): Map<string, (nth: number) => VNode> {
  const known = new Map(
    citations.filter(({ chunkId }) => chunkId !== null).map((each) => [each.marker, each]),
  );
  const places = findMarkers(answer, (ref) => known.has(ref));
  const createButton = (citation: Citation, nth: number) => {
    const { marker } = citation;
    const ends = places.flatMap((each) => (each.names.includes(marker) ? each.end : []));
    const [from = 0, to = 0] = nth === 0 ? [0, ends[0]] : ends.slice(nth - 1);
    const citing = sentences.filter(({ refs }) => refs.includes(marker));
    // A marker stands for the sentences since the last marker of its source, and in the last one of them.
    const near = citing.filter(({ start }) => from <= start && start < to);
    const isFlagged = near.at(-1)?.verdict === 'unsupported';
    const shown: Citation = isFlagged ? { ...citation, verdict: 'unsupported' } : citation;
    return (
      <CitationButton citation={shown} onOpen={() => onOpenSource(shown, near.length > 0 ? near : citing)} />
    );
  };
  return new Map([...known].map(([marker, citation]) => [marker, (nth) => createButton(citation, nth)]));
}

function CitationButton({ citation, onOpen }: { citation: Citation; onOpen: () => void }) {
  const { marker, verdict } = citation;
  const title = revealHiddenCharacters(citation.title);
  const { symbol, text } = VERDICT_LABELS[verdict];
  return (
    <button
      type="button"
      class={`cite ${verdict}`}
      aria-label={`Source ${marker}: ${title}, ${text}`}
      title={`${title} (${text})`}
      onClick={onOpen}
    >
      {marker}
      <span aria-hidden="true"> {symbol}</span>
    </button>
  );
}

/** The document, the headings of the passage, and its location. */
function describeSource({ chunkId, title, url, location }: Citation, turn: ChatTurn['turn']): string {
  const chunks = turn?.retrievals.flatMap((retrieval) => retrieval.chunks) ?? [];
  const headings = chunks.find((chunk) => chunk.chunkId === chunkId)?.headings ?? [];
  const path = [title === '' ? url : title, ...headings.filter((heading) => heading !== title)].join(' › ');
  return location === undefined ? path : `${path}, ${formatLocation(location)}`;
}
