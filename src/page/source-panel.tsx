import { useEffect, useRef, useState } from 'preact/hooks';
import type { Citation } from '../domain/citation.ts';
import { api, type Passage, type Source } from './api.ts';
import { verdicts } from './verdicts.ts';

interface SourcePanelProps {
  citation: Citation;
  collection: string;
  onClose: () => void;
}

/** The passage behind a citation, in its context, with what was quoted marked. */
export function SourcePanel({ citation, collection, onClose }: SourcePanelProps) {
  const [source, setSource] = useState<Source | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const { chunkId, title, url, excerpt, verdict } = citation;
  const { sign, word, meaning } = verdicts[verdict];

  useEffect(() => {
    let isCurrent = true;
    setSource(null);
    setFault(null);
    heading.current?.focus();
    api.source(chunkId ?? '', collection).then(
      (found) => isCurrent && setSource(found),
      (error: Error) => isCurrent && setFault(error.message),
    );
    return () => {
      isCurrent = false;
    };
  }, [chunkId, collection]);

  return (
    <div class="source" role="dialog" aria-labelledby="source-title">
      <header>
        <h2 id="source-title" tabIndex={-1} ref={heading}>
          {title}
        </h2>
        <button type="button" aria-label="Close the source" onClick={onClose}>
          ✕
        </button>
      </header>
      <p class="quiet">
        <span class={`badge ${verdict}`}>
          {sign} {word}
        </span>{' '}
        {meaning}
      </p>
      <Address url={url} />
      {fault !== null && (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      {source === null && fault === null && <p class="quiet">Loading…</p>}
      {source?.passages.map((passage) => (
        <PassageView key={passage.chunkId} passage={passage} excerpt={excerpt} />
      ))}
    </div>
  );
}

/** Files cannot be opened from a page; their path can be read. */
function Address({ url }: { url: string }) {
  if (!/^https?:/.test(url)) return <p class="address">{decodedPath(url)}</p>;
  return (
    <p class="address">
      <a href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
    </p>
  );
}

function PassageView({ passage, excerpt }: { passage: Passage; excerpt: string }) {
  const cited = useRef<HTMLElement>(null);
  useEffect(() => cited.current?.scrollIntoView({ block: 'center' }), []);
  const [before, marked, after] = passage.isCited ? marking(passage.text, excerpt) : [passage.text, '', ''];
  return (
    <section class={passage.isCited ? 'passage cited' : 'passage'} ref={passage.isCited ? cited : null}>
      {passage.headings.length > 0 && <h3>{passage.headings.join(' › ')}</h3>}
      <p>
        {before}
        {marked !== '' && <mark>{marked}</mark>}
        {after}
      </p>
    </section>
  );
}

/** The text in three parts, the one in the middle being the excerpt; whole if it cannot be found. */
function marking(text: string, excerpt: string): [string, string, string] {
  const wanted = excerpt.replace(/…$/, '').trim();
  const at = wanted === '' ? -1 : text.indexOf(wanted);
  if (at < 0) return ['', text, ''];
  return [text.slice(0, at), wanted, text.slice(at + wanted.length)];
}

function decodedPath(url: string): string {
  try {
    return decodeURIComponent(url.replace(/^file:\/\//, ''));
  } catch {
    return url;
  }
}
