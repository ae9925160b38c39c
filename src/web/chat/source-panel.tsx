import { useEffect, useRef, useState } from 'preact/hooks';
import type { CheckedSentence } from '../../domain/checked-sentence.ts';
import type { Citation } from '../../domain/citation.ts';
import { formatLocation, isWebUrl, linkToLocation, toDisplayUrl } from '../../domain/format-location.ts';
import { SourceLink, VerdictBadge } from '../shared/verdict-badge.tsx';
import { VERDICT_LABELS } from '../shared/verdict-labels.ts';
import { chatApi, describeRequestError, type SourcePassage } from './chat-api.ts';
import { ErrorMessage } from './error-message.tsx';
import { revealHiddenCharacters } from './hidden-characters.ts';
import { EVIDENCE_MARK } from './mark-text-ranges.ts';
import { MarkdownView } from './markdown.tsx';

interface SourcePanelProps {
  citation: Citation;
  /** Their evidence is marked. */
  sentences: readonly CheckedSentence[];
  collection: string | undefined;
  onClose: () => void;
}

/** The cited passage in its context, with the evidence marked. */
export function SourcePanel({ citation, sentences, collection, onClose }: SourcePanelProps) {
  const [passages, setPassages] = useState<SourcePassage[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { chunkId, title, url, verdict } = citation;

  useEffect(() => {
    let isCurrent = true;
    setPassages(null);
    setError(null);
    heading.current?.focus();
    chatApi.source(chunkId ?? '', collection).then(
      (source) => isCurrent && setPassages(source.passages),
      (cause: unknown) => isCurrent && setError(describeRequestError(cause)),
    );
    return () => {
      isCurrent = false;
    };
  }, [chunkId, collection]);

  return (
    <div class="source" role="dialog" aria-labelledby="source-title">
      <div class="source-top">
        <h2 id="source-title" tabIndex={-1} ref={heading}>
          <bdi>{revealHiddenCharacters(title === '' ? url : title)}</bdi>
        </h2>
        <button type="button" aria-label="Close source" onClick={onClose}>
          ✕
        </button>
        <p class="quiet">
          <VerdictBadge verdict={verdict} /> {VERDICT_LABELS[verdict].explanation}
        </p>
        <p>
          <SourceLink url={linkToLocation(url, citation.location)}>
            {revealHiddenCharacters(toDisplayUrl(url))}
          </SourceLink>{' '}
          {!isWebUrl(url) && <FileLink citation={citation} collection={collection} />}
        </p>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The keyboard must reach what scrolls. */}
      <section class="passages" aria-label="Passages" tabIndex={0}>
        {error !== null && <ErrorMessage text={error} />}
        {passages === null && error === null && <p class="quiet">Loading…</p>}
        {passages?.map((passage) => (
          <PassageView key={passage.chunkId} passage={passage} sentences={sentences} />
        ))}
      </section>
    </div>
  );
}

function PassageView({
  passage,
  sentences,
}: { passage: SourcePassage } & Pick<SourcePanelProps, 'sentences'>) {
  const cited = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const first = cited.current?.querySelector('mark') ?? cited.current;
    first?.scrollIntoView({ block: 'center' });
  }, []);
  const { text, headings, location, isCited, chunkId } = passage;
  const title = [headings.join(' › '), location ? formatLocation(location) : ''].filter(Boolean).join(', ');
  // A passage that has changed since does not have the evidence.
  const marked = sentences
    .flatMap(({ evidence }) => evidence ?? [])
    .filter((one) => one.chunkId === chunkId && text.slice(one.start, one.end) === one.text);
  return (
    <div class={isCited ? 'passage cited' : 'passage'} ref={isCited ? cited : null}>
      {title !== '' && <h3 dir="auto">{revealHiddenCharacters(title)}</h3>}
      <div class="markdown" dir="auto">
        <MarkdownView text={text} markers={NO_MARKERS} marked={marked} mark={EVIDENCE_MARK} />
      </div>
    </div>
  );
}

const NO_MARKERS = new Map<string, never>();

/** Opens the file that was ingested in a new tab. */
function FileLink({ citation, collection }: Pick<SourcePanelProps, 'citation' | 'collection'>) {
  const [error, setError] = useState<string | null>(null);
  const { chunkId, location } = citation;
  async function open(): Promise<void> {
    const url = URL.createObjectURL(await chatApi.file(chunkId ?? '', collection));
    window.open(location?.unit === 'page' ? `${url}#page=${location.from}` : url, '_blank');
  }
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setError(null);
          open().catch((cause: unknown) => setError(describeRequestError(cause)));
        }}
      >
        Open file
      </button>
      {error !== null && (
        <span class="failure" role="alert">
          {error}
        </span>
      )}
    </>
  );
}
