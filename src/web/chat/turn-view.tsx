import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { standingOf, unsupportedWords } from '../../domain/answer-doubts.ts';
import type { Citation } from '../../domain/citation.ts';
import { nearestParts } from '../../domain/closest-passages.ts';
import { describeLocation } from '../../domain/show-location.ts';
import { plainly } from '../../faults/advice.ts';
import { VerdictBadge } from '../shared/verdict-badge.tsx';
import { VERDICT_LABELS } from '../shared/verdict-labels.ts';
import { copyText, turnAsMarkdown } from './copy-markdown.ts';
import { Markdown } from './markdown.tsx';
import { revealHidden } from './reveal-hidden.ts';
import type { TurnState } from './turn-state.ts';

interface TurnViewProps {
  state: TurnState;
  number: number;
  /** Whether the conversation was reset before it. */
  isAfterReset: boolean;
  onOpen: (citation: Citation) => void;
  onJudge: (verdict: 'good' | 'bad') => void;
  /** Null where it cannot be asked again. */
  onAgain: (() => void) | null;
}

/** A question with its answer, how the answer came about, and what became of its citations. */
export function TurnView({ state, number, isAfterReset, onOpen, onJudge, onAgain }: TurnViewProps) {
  const { question, status, text, citations, error, notices, searches } = state;
  const [isWhole, setWhole] = useState(false);
  const query = searches[0]?.query ?? question;
  const parts = useMemo(() => nearestParts(text, query), [text, query]);
  const shown = isWhole ? text : parts.text;
  // Another turn's words must not have this one read again.
  const sentences = state.turn?.response.sentences;
  const answer = useMemo(() => {
    const unsupportedSpans = sentences?.flatMap((sentence) => sentence.unsupportedSpans) ?? [];
    // Their places are those of the whole answer.
    const marked = shown === text ? unsupportedSpans : [];
    return <Markdown text={shown} markers={markersOf(citations, onOpen)} marked={marked} />;
  }, [text, shown, citations, sentences]);
  return (
    <article class="turn" aria-labelledby={`question-${number}`}>
      {isAfterReset && <ResetNote />}
      <h2 class="question" id={`question-${number}`}>
        <bdi>{revealHidden(question)}</bdi>
      </h2>
      <Searches state={state} />
      {[...new Set(notices)].map((notice) => (
        <p class="notice" key={notice}>
          {revealHidden(notice)}
        </p>
      ))}
      {text !== '' && (
        <div class="answer" dir="auto" aria-busy={status === 'running'}>
          {answer}
        </div>
      )}
      {parts.inPart.length > 0 && status !== 'running' && (
        <p>
          <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show the nearest parts' : 'Show the whole passages'}
          </button>
        </p>
      )}
      {status === 'running' && (
        <p class="activity">
          <span class="spinner" aria-hidden="true" />
          <bdi>{revealHidden(state.activity)}</bdi>
        </p>
      )}
      {status === 'stopped' && <p class="notice">Stopped. Nothing of this turn was kept.</p>}
      {error !== null && (
        <p class="failure" role="alert">
          {revealHidden(error)}
        </p>
      )}
      {onAgain !== null && (status === 'failed' || status === 'stopped') && (
        <p>
          <button type="button" onClick={onAgain}>
            Ask again
          </button>
        </p>
      )}
      {state.turn !== null && <Sources state={state} onOpen={onOpen} />}
      {state.turn !== null && <Standing turn={state.turn} />}
      {state.turn !== null && <Footer state={state} onJudge={onJudge} />}
    </article>
  );
}

export function ResetNote() {
  return <p class="afresh">Started over: the model no longer knows what was said above.</p>;
}

function Searches({ state: { searches, status } }: { state: TurnState }) {
  if (searches.length === 0) return null;
  return (
    <ul class="searches" aria-label="Searches">
      {searches.map(({ id, query, found, error }) => (
        <li key={id}>
          <span class="sign" aria-hidden="true">
            ⌕
          </span>{' '}
          <q dir="auto">{revealHidden(query)}</q>{' '}
          <span class="quiet">{error ?? foundWords(found, status === 'running')}</span>
        </li>
      ))}
    </ul>
  );
}

function foundWords(found: number | null, isRunning: boolean): string {
  if (found === null) return isRunning ? 'searching…' : 'broken off';
  return found === 1 ? '1 passage' : `${found} passages`;
}

function Sources({ state: { citations, stale, turn }, onOpen }: Pick<TurnViewProps, 'state' | 'onOpen'>) {
  if (citations.length === 0) return null;
  return (
    <ul class="sources" aria-label="Sources">
      {citations.toSorted(byMarker).map((citation) => {
        const { marker, score, verdict, chunkId } = citation;
        const changed = chunkId === null ? undefined : stale[chunkId];
        return (
          <li key={marker}>
            <span class="marker">{revealHidden(marker)}</span>
            <span class="source-line">
              {chunkId === null ? (
                <span>taken out of the answer</span>
              ) : (
                <button type="button" class="link" onClick={() => onOpen(citation)}>
                  <bdi>{revealHidden(placeOf(citation, turn))}</bdi>
                </button>
              )}
              <span class="checked">
                {chunkId !== null && (
                  <span class="quiet number" title="How near the passage is to the search">
                    {score.toFixed(2)}
                  </span>
                )}
                <VerdictBadge verdict={verdict} />
              </span>
              {changed !== undefined && (
                <span class="badge stale">
                  {changed === 'gone' ? 'the file is gone' : `source ${changed} since`}
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** What the verdicts of the sources do not say. */
function Standing({ turn: { response } }: { turn: NonNullable<TurnState['turn']> }) {
  const words = unsupportedWords(response);
  return (
    <p class="quiet">
      {words.length > 0 && (
        <>
          In no source that is cited:{' '}
          {words.map((word, index) => (
            <>
              {index > 0 && ', '}
              <u dir="auto">{revealHidden(word)}</u>
            </>
          ))}
          .{' '}
        </>
      )}
      {plainly(standingOf(response).said)}
    </p>
  );
}

function Footer({ state, onJudge }: Pick<TurnViewProps, 'state' | 'onJudge'>) {
  const [copied, setCopied] = useState<boolean | null>(null);
  const response = state.turn?.response;
  if (response === undefined) return null;
  const { grounded, model, tokensUsed, retrievalCount, totalTimeMs } = response;
  const searches = retrievalCount === 1 ? '1 search' : `${retrievalCount} searches`;
  return (
    <footer class="facts">
      <span class={`badge ${grounded ? 'supported' : 'ungrounded'}`}>
        {grounded ? '✓ grounded' : '○ not grounded'}
      </span>
      <span class="quiet">
        {model} · {tokensUsed.total} tokens · {searches} · {(totalTimeMs / 1000).toFixed(1)} s
      </span>
      <span class="actions">
        <button type="button" onClick={async () => setCopied(await copyText(turnAsMarkdown(state)))}>
          {copied === null ? 'Copy as Markdown' : copied ? 'Copied' : 'The browser refused'}
        </button>
        <button type="button" aria-pressed={state.feedback === 'good'} onClick={() => onJudge('good')}>
          Good
        </button>
        <button type="button" aria-pressed={state.feedback === 'bad'} onClick={() => onJudge('bad')}>
          Bad
        </button>
      </span>
    </footer>
  );
}

/** What stands in the text for each citation that leads somewhere. */
function markersOf(citations: readonly Citation[], onOpen: TurnViewProps['onOpen']): Map<string, VNode> {
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
            aria-label={`Source ${marker}: ${revealHidden(title)}, ${text}`}
            title={`${revealHidden(title)} (${text})`}
            onClick={() => onOpen(citation)}
          >
            {marker}
            <span aria-hidden="true"> {symbol}</span>
          </button>,
        ];
      }),
  );
}

/** The document, the headings above the passage, and where in the document it stands. */
function placeOf({ chunkId, title, url, location }: Citation, turn: TurnState['turn']): string {
  const chunks = turn?.retrievals.flatMap((retrieval) => retrieval.chunks) ?? [];
  const headings = chunks.find((chunk) => chunk.chunkId === chunkId)?.headings ?? [];
  const path = [title === '' ? url : title, ...headings.filter((heading) => heading !== title)].join(' › ');
  return location === undefined ? path : `${path}, ${describeLocation(location)}`;
}

/** In the order of their numbers; what is no number comes last. */
function byMarker(a: Citation, b: Citation): number {
  return (Number(a.marker) || Number.MAX_SAFE_INTEGER) - (Number(b.marker) || Number.MAX_SAFE_INTEGER);
}
