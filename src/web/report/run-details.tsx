import type { CaseRun, ReportChunk } from '../../evaluation/report/case-run.ts';
import { formatMetricValue } from '../../evaluation/report/format-metric.ts';
import { SourceLink, VerdictBadge } from '../shared/verdict-badge.tsx';
import { isSupportedVerdict, VERDICT_LABELS } from '../shared/verdict-labels.ts';
import { FactList } from './report-components.tsx';

/** One run of a case: its checked answer, citations, searches, time and cost. */
export function RunDetails({ run }: { run: CaseRun }) {
  const { citations, retrievals, grade } = run;
  return (
    <div class="run">
      {run.abstained && (
        <p>
          <span class="badge plain">abstained</span>
        </p>
      )}
      <Answer run={run} />
      {grade !== null && grade.reason !== '' && (
        <p class="muted" dir="auto">
          Graded {grade.correct ? 'correct' : 'wrong'}: {grade.reason}
        </p>
      )}
      <RunFacts run={run} />
      <h5>{citations.length > 0 ? `Citations (${citations.length})` : 'No citations'}</h5>
      <ul class="citations">
        {citations.map((citation) => (
          <li key={citation.marker}>
            <span class="marker">[{citation.marker}]</span> <VerdictBadge verdict={citation.verdict} />{' '}
            {citation.verdict !== 'unknown_source' && <Passage chunk={citation} />}
          </li>
        ))}
      </ul>
      <h5>{retrievals.length > 0 ? `Searches (${retrievals.length})` : 'No searches'}</h5>
      <ul class="retrievals">
        {retrievals.map((retrieval, index) => (
          <Retrieval key={index} retrieval={retrieval} />
        ))}
      </ul>
    </div>
  );
}

/** The answer, and below it the sentences that are flagged or lack a citation. */
function Answer({ run: { answer, sentences, abstained, error } }: { run: CaseRun }) {
  if (error !== null) {
    return (
      <p class="answer failed">
        Failed with {error.errorType}: {error.message}
      </p>
    );
  }
  if (answer === '') return <p class="none">no answer</p>;
  // An abstention needs no citation.
  const doubted = sentences.filter(({ verdict }) =>
    verdict === null ? !abstained : !isSupportedVerdict(verdict),
  );
  return (
    <>
      <p class="answer" dir="auto">
        {answer}
      </p>
      <ul class="doubted">
        {doubted.map(({ text, verdict, reason }) => (
          <li key={text} dir="auto">
            {text}{' '}
            <em class="note">
              {verdict === null ? 'no citation' : (reason ?? VERDICT_LABELS[verdict].text)}
            </em>
          </li>
        ))}
      </ul>
    </>
  );
}

function RunFacts({ run }: { run: CaseRun }) {
  const { tokens, cost, timesMs } = run;
  const facts: [name: string, value: string | null][] = [
    ['Steps', String(run.steps)],
    ['Searches', `${run.searches}${run.duplicateSearches > 0 ? `, ${run.duplicateSearches} repeated` : ''}`],
    [
      'Tokens',
      tokens.total === 0 ? 'no data' : `${tokens.total} (${tokens.prompt} in, ${tokens.completion} out)`,
    ],
    ['First token', timesMs.firstToken === null ? 'no data' : formatMetricValue(timesMs.firstToken, 'ms')],
    ['Total time', formatMetricValue(timesMs.total, 'ms')],
    ['Cost', cost === null ? null : formatMetricValue(cost, 'money')],
    ['Confidence', run.confidence],
  ];
  return (
    <FactList class="run-facts" facts={facts.map(([name, value]) => [name, value === null ? [] : [value]])} />
  );
}

function Retrieval({ retrieval }: { retrieval: CaseRun['retrievals'][number] }) {
  const { query, filter, scoreThreshold, totalFound, chunks, nearMiss, timeMs } = retrieval;
  const filters = Object.entries(filter).map(([key, values]) => `${key}=${values.join('|')}`);
  const facts = [
    `${chunks.length} of ${totalFound} passages`,
    `score threshold ${scoreThreshold}`,
    formatMetricValue(timeMs, 'ms'),
    ...(filters.length > 0 ? [`filter ${filters.join(', ')}`] : []),
  ];
  return (
    <li>
      <details>
        <summary>
          <span class="query" dir="auto">
            {query}
          </span>{' '}
          <span class="muted">{facts.join(', ')}</span>
        </summary>
        {chunks.length === 0 && <p class="none">No passage reached the score threshold.</p>}
        <ol class="hits">
          {chunks.map((chunk) => (
            <li key={chunk.chunkId}>
              <Passage chunk={chunk} />
            </li>
          ))}
        </ol>
        {nearMiss !== null && (
          <>
            <p class="muted">Best passage below the threshold:</p>
            <div class="hits">
              <Passage chunk={nearMiss} />
            </div>
          </>
        )}
      </details>
    </li>
  );
}

type PassageChunk = Omit<ReportChunk, 'chunkId' | 'headings'> & Partial<Pick<ReportChunk, 'headings'>>;

function Passage({ chunk }: { chunk: PassageChunk }) {
  const { title, url, headings = [], score, excerpt, expected } = chunk;
  return (
    <>
      <span class="score">{score.toFixed(3)}</span>
      {expected === true && <span class="badge plain">● expected</span>}
      <div>
        <span class="source" dir="auto">
          {title || 'Untitled'}
        </span>
        {headings.length > 0 && (
          <span class="headings" dir="auto">
            {' › '}
            {headings.join(' › ')}
          </span>
        )}
        {url !== '' && <SourceLink url={url} />}
      </div>
      <blockquote dir="auto">{excerpt}</blockquote>
    </>
  );
}
