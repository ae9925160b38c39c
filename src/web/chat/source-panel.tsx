import { useEffect, useRef, useState } from 'preact/hooks';
import type { Citation } from '../../domain/citation.ts';
import { describeLocation, linkTo } from '../../domain/show-location.ts';
import type { Range } from '../../text/markdown-blocks.ts';
import { SourceLink, VerdictBadge } from '../shared/verdict-badge.tsx';
import { VERDICT_LABELS } from '../shared/verdict-labels.ts';
import { api, type Passage, type Source, sentenceOf } from './api.ts';
import { BEARING } from './mark-words.ts';
import { Markdown } from './markdown.tsx';
import { markedSentences } from './marked-sentences.ts';
import { revealHidden } from './reveal-hidden.ts';

interface SourcePanelProps {
  citation: Citation;
  /** The text that cites it. */
  answer: string;
  collection: string | undefined;
  onClose: () => void;
}

/** The passage behind a citation, in its context, with what the answer rests on marked. */
export function SourcePanel({ citation, answer, collection, onClose }: SourcePanelProps) {
  const [source, setSource] = useState<Source | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { chunkId, marker, title, url, verdict } = citation;

  useEffect(() => {
    let isCurrent = true;
    setSource(null);
    setFault(null);
    heading.current?.focus();
    api.source(chunkId ?? '', collection).then(
      (found) => isCurrent && setSource(found),
      (error: unknown) => isCurrent && setFault(sentenceOf(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [chunkId, collection]);

  return (
    <div class="source" role="dialog" aria-labelledby="source-title">
      <div class="source-top">
        <h2 id="source-title" tabIndex={-1} ref={heading}>
          <bdi>{revealHidden(title === '' ? url : title)}</bdi>
        </h2>
        <button type="button" aria-label="Close the source" onClick={onClose}>
          ✕
        </button>
        <p class="quiet">
          <VerdictBadge verdict={verdict} /> {VERDICT_LABELS[verdict].explanation}
        </p>
        <p>
          <SourceLink url={linkTo(url, citation.location)}>{revealHidden(readableAddress(url))}</SourceLink>{' '}
          {!/^https?:/i.test(url) && <FileLink citation={citation} collection={collection} />}
        </p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section class="passages" aria-label="Passages" tabIndex={0}>
        {fault !== null && (
          <p class="failure" role="alert">
            {fault}
          </p>
        )}
        {source === null && fault === null && <p class="quiet">Loading…</p>}
        {source?.passages.map((passage) => (
          <PassageView key={passage.chunkId} passage={passage} answer={answer} marker={marker} />
        ))}
      </section>
    </div>
  );
}

function PassageView({ passage, answer, marker }: { passage: Passage; answer: string; marker: string }) {
  const cited = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const first = cited.current?.querySelector('mark') ?? cited.current;
    first?.scrollIntoView({ block: 'center' });
  }, []);
  const { text, headings, location, isCited } = passage;
  const place = [headings.join(' › '), location ? describeLocation(location) : ''].filter(Boolean).join(', ');
  const bearing = isCited ? rangesOf(markedSentences(text, answer, marker)) : [];
  return (
    <div class={isCited ? 'passage cited' : 'passage'} ref={isCited ? cited : null}>
      {place !== '' && <h3 dir="auto">{revealHidden(place)}</h3>}
      <div class="markdown" dir="auto">
        <Markdown text={text} markers={NO_MARKERS} marked={bearing} mark={BEARING} />
      </div>
    </div>
  );
}

const NO_MARKERS = new Map<string, never>();

/** Where the marked runs of a text stand in it. */
function rangesOf(runs: ReturnType<typeof markedSentences>): Range[] {
  let at = 0;
  return runs.flatMap(({ text, isMarked }) => {
    at += text.length;
    return isMarked ? [{ start: at - text.length, end: at }] : [];
  });
}

/** A file as it was ingested from, in a tab of its own; the server hands out no other. */
function FileLink({ citation, collection }: Pick<SourcePanelProps, 'citation' | 'collection'>) {
  const [fault, setFault] = useState<string | null>(null);
  const { chunkId, location } = citation;
  async function open(): Promise<void> {
    const file = await api.file(chunkId ?? '', collection);
    const address = URL.createObjectURL(file);
    window.open(location?.unit === 'page' ? `${address}#page=${location.from}` : address, '_blank');
  }
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setFault(null);
          open().catch((error: unknown) => setFault(sentenceOf(error)));
        }}
      >
        Open the file
      </button>
      {fault !== null && (
        <span class="failure" role="alert">
          {fault}
        </span>
      )}
    </>
  );
}

/** A path as people write it. */
function readableAddress(url: string): string {
  if (/^https?:/i.test(url)) return url;
  try {
    return decodeURIComponent(url.replace(/^file:\/\//, ''));
  } catch {
    return url;
  }
}
