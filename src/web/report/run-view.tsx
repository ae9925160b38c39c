import type { ComponentChildren } from 'preact';
import { formatValue } from '../../evaluation/report/format-value.ts';
import type {
  PageChunk,
  PageCitation,
  PageData,
  PageHit,
  PageRetrieval,
  PageRun,
} from '../../evaluation/report/page-data.ts';
import { Address, VerdictBadge } from '../shared/citations.tsx';
import { isBorneOut, verdicts } from '../shared/verdicts.ts';

interface RunProps {
  data: PageData;
  run: PageRun;
}

/** One run: the answer with what the check said of it, its citations, its searches, and what it took. */
export function RunView({ data, run }: RunProps) {
  const { citations = [], retrievals = [], judge } = run;
  const reason = judge === undefined ? '' : data.texts[judge[1]];
  return (
    <div class="run">
      {run.abstained === 1 && (
        <p>
          <span class="badge plain">says that it does not know</span>
        </p>
      )}
      <Answer data={data} run={run} />
      {reason !== '' && (
        <p class="muted" dir="auto">
          The judge: {reason}
        </p>
      )}
      <Facts run={run} />
      <h5>{citations.length > 0 ? `Citations (${citations.length})` : 'No citations'}</h5>
      {citations.length > 0 && (
        <ul class="citations">
          {citations.map((citation) => (
            <CitationView key={citation[0]} data={data} citation={citation} />
          ))}
        </ul>
      )}
      <h5>{retrievals.length > 0 ? `Searches (${retrievals.length})` : 'No search'}</h5>
      {retrievals.length > 0 && (
        <ul class="retrievals">
          {retrievals.map((retrieval, index) => (
            <RetrievalView key={index} data={data} retrieval={retrieval} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** The answer as it stands; sentences that no citation bears out say so, words that none does are underlined. */
function Answer({ data, run }: RunProps) {
  if (run.error !== undefined) {
    const [type, message] = run.error;
    return (
      <p class="answer failed">
        Ended in an error ({type}): {data.texts[message]}
      </p>
    );
  }
  if (run.answer === undefined) return <p class="none">no answer</p>;
  const answer = data.texts[run.answer] ?? '';
  const pieces: ComponentChildren[] = [];
  const apart: ComponentChildren[] = [];
  let from = 0;
  for (const [at, verdict, words = []] of run.sentences ?? []) {
    // Who says that nothing was found has nothing to cite.
    if (verdict === null && run.abstained === 1) continue;
    const note = verdict === null ? 'nothing cited' : verdicts[verdict].word;
    if (typeof at === 'number') {
      apart.push(
        <li dir="auto">
          {underlined(data.texts[at] ?? '', words)} <em>{note}</em>
        </li>,
      );
      continue;
    }
    const [start, length] = at;
    // A shortened answer may end before the sentence does.
    if (start < from || start + length > answer.length) continue;
    const sentence = underlined(answer.slice(start, start + length), words);
    pieces.push(answer.slice(from, start));
    if (isBorneOut(verdict)) pieces.push(sentence);
    else {
      const kind = verdict === null ? 'uncited' : 'doubted';
      pieces.push(<span class={kind}>{sentence}</span>, <em class="note"> {note} </em>);
    }
    from = start + length;
  }
  return (
    <>
      <p class="answer" dir="auto">
        {pieces}
        {answer.slice(from)}
      </p>
      {apart.length > 0 && <ul class="apart">{apart}</ul>}
    </>
  );
}

/** A sentence in which the words are marked that nothing bears out. */
function underlined(sentence: string, words: readonly [start: number, length: number][]): ComponentChildren {
  let from = 0;
  const pieces = words.map(([start, length]) => {
    const before = sentence.slice(from, start);
    from = start + length;
    return (
      <>
        {before}
        <u title="In no source that is cited">{sentence.slice(start, from)}</u>
      </>
    );
  });
  return [...pieces, sentence.slice(from)];
}

function Facts({ run }: { run: PageRun }) {
  const [firstToken, , , total] = run.times;
  const { tokens, judge } = run;
  const facts: [name: string, value: string | undefined][] = [
    ['Steps', String(run.steps ?? 0)],
    ['Searches', `${run.searches ?? 0}${run.duplicates ? `, ${run.duplicates} again` : ''}`],
    ['Tokens', tokens === undefined ? 'no data' : `${tokens[2]} (${tokens[0]} in, ${tokens[1]} out)`],
    ['First token', firstToken === null ? 'no data' : formatValue(firstToken, 'ms')],
    ['Total', formatValue(total, 'ms')],
    ['Cost', run.cost === undefined ? undefined : formatValue(run.cost, 'money')],
    ['Confidence', run.confidence],
    ['Judged', judge?.[0].map((score) => score.toFixed(2)).join(', ')],
  ];
  return (
    <dl class="run-facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function CitationView({ data, citation }: { data: PageData; citation: PageCitation }) {
  const [marker, verdict, cited, score, expected] = citation;
  const chunk = typeof cited === 'number' ? data.chunks[cited] : cited;
  return (
    <li>
      <span class="marker">[{marker}]</span> <VerdictBadge verdict={verdict} />{' '}
      <ExpectedBadge expected={expected} />
      {verdict !== 'unknown_source' && (
        <>
          <span class="score">{score.toFixed(3)}</span>
          <Passage data={data} chunk={chunk} />
        </>
      )}
    </li>
  );
}

function RetrievalView({ data, retrieval }: { data: PageData; retrieval: PageRetrieval }) {
  const { query, filter, threshold, found, hits, nearMiss, ms } = retrieval;
  const filters = Object.entries(filter ?? {}).map(([key, values]) => `${key}=${values.join('|')}`);
  const only = filters.length > 0 ? `, only ${filters.join(', ')}` : '';
  return (
    <li>
      <details>
        <summary>
          <span class="query" dir="auto">
            {data.texts[query]}
          </span>
          <span class="muted">
            {` ${hits.length} of ${found} found, threshold ${threshold}, ${formatValue(ms, 'ms')}${only}`}
          </span>
        </summary>
        {hits.length === 0 && <p class="none">Nothing reached the threshold.</p>}
        <ol class="hits">
          {hits.map((hit) => (
            <HitView key={hit[0]} data={data} hit={hit} />
          ))}
        </ol>
        {nearMiss !== undefined && (
          <>
            <p class="muted">The best that stayed below it:</p>
            <ul class="hits">
              <HitView data={data} hit={nearMiss} />
            </ul>
          </>
        )}
      </details>
    </li>
  );
}

function HitView({ data, hit: [place, score, expected] }: { data: PageData; hit: PageHit }) {
  return (
    <li>
      <span class="score">{score.toFixed(3)}</span>
      <ExpectedBadge expected={expected} />
      <Passage data={data} chunk={data.chunks[place]} />
    </li>
  );
}

function ExpectedBadge({ expected }: { expected: 0 | 1 | null }) {
  return expected === 1 ? <span class="badge plain">● expected</span> : null;
}

/** Where it stands and what it says. */
function Passage({ data: { texts }, chunk }: { data: PageData; chunk: PageChunk | undefined }) {
  if (chunk === undefined) return null;
  const [title = '', url = '', headings = '', excerpt = ''] = chunk.map((place) => texts[place]);
  return (
    <>
      <div>
        <span class="source" dir="auto">
          {title || 'untitled'}
        </span>
        {headings !== '' && (
          <span class="headings" dir="auto">
            {' › '}
            {headings}
          </span>
        )}
        {url !== '' && <Address url={url} />}
      </div>
      <blockquote dir="auto">{excerpt}</blockquote>
    </>
  );
}
