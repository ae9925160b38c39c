/// <reference lib="dom" />
import type { formatValue } from '../../format-value.ts';
import type { PageChunk, PageCitation, PageData, PageHit, PageRetrieval, PageRun } from '../page-data.ts';
import type { Child, MakeElement } from './element-maker.ts';

/**
 * Shows one run: the answer with what the check said of it, its citations, its searches, and what it took.
 * Runs in the page: it may use nothing from outside itself.
 */
export function runView(
  data: PageData,
  make: MakeElement,
  format: typeof formatValue,
): (run: PageRun) => HTMLElement {
  const text = (place: number) => data.texts[place] ?? '';
  const verdictNames: Record<string, [sign: string, name: string]> = {
    supported: ['✓', 'supported'],
    weak: ['~', 'weak'],
    unsupported: ['✗', 'unsupported'],
    unknown_source: ['?', 'unknown source'],
  };

  function verdictBadge(verdict: string): HTMLElement {
    const [sign, name] = verdictNames[verdict] ?? ['', verdict];
    return make('span', { class: `badge ${verdict === 'supported' ? 'good' : 'bad'}` }, `${sign} ${name}`);
  }

  /** Only an address of the web becomes a link; it says nothing of where it was clicked. */
  function address(url: string): HTMLElement {
    return /^https?:\/\//i.test(url)
      ? make('a', { class: 'url', href: url, rel: 'noreferrer noopener', target: '_blank' }, url)
      : make('span', { class: 'url' }, url);
  }

  /** The answer as it stands; sentences that no citation bears out say so. */
  function answerView(run: PageRun): Child {
    if (run.error !== undefined) {
      return make(
        'p',
        { class: 'answer failed' },
        `Ended in an error (${run.error[0]}): ${text(run.error[1])}`,
      );
    }
    if (run.answer === undefined) return make('p', { class: 'none' }, 'no answer');
    const answer = text(run.answer);
    const pieces: Child[] = [];
    const apart: Child[] = [];
    let from = 0;
    for (const [at, verdict] of run.sentences ?? []) {
      // Who says that nothing was found has nothing to cite.
      if (verdict === 'supported' || (verdict === null && run.abstained === 1)) continue;
      const note = verdict === null ? 'nothing cited' : (verdictNames[verdict]?.[1] ?? verdict);
      if (typeof at === 'number') {
        apart.push(make('li', { dir: 'auto' }, text(at), ' ', make('em', {}, note)));
        continue;
      }
      const [start, length] = at;
      // A shortened answer may end before the sentence does.
      if (start < from || start + length > answer.length) continue;
      pieces.push(
        answer.slice(from, start),
        make(
          'span',
          { class: verdict === null ? 'uncited' : 'doubted' },
          answer.slice(start, start + length),
        ),
        make('em', { class: 'note' }, ` ${note} `),
      );
      from = start + length;
    }
    return [
      make('p', { class: 'answer', dir: 'auto' }, pieces, answer.slice(from)),
      apart.length > 0 && make('ul', { class: 'apart' }, apart),
    ];
  }

  function source([title, url, headings]: PageChunk): Child {
    return [
      make('span', { class: 'source', dir: 'auto' }, text(title) || 'untitled'),
      text(headings) !== '' && make('span', { class: 'headings', dir: 'auto' }, ` › ${text(headings)}`),
      text(url) !== '' && address(text(url)),
    ];
  }

  function expectedMark(expected: 0 | 1 | null): Child {
    return expected === 1 && make('span', { class: 'badge plain' }, '● expected');
  }

  function citationView([marker, verdict, cited, score, expected]: PageCitation): HTMLElement {
    const chunk = typeof cited === 'number' ? data.chunks[cited] : cited;
    return make(
      'li',
      {},
      make('span', { class: 'marker' }, `[${marker}]`),
      ' ',
      verdictBadge(verdict),
      ' ',
      expectedMark(expected),
      make('span', { class: 'score' }, verdict === 'unknown_source' ? '' : score.toFixed(3)),
      chunk !== undefined &&
        verdict !== 'unknown_source' && [
          make('div', {}, source(chunk)),
          make('blockquote', { dir: 'auto' }, text(chunk[3])),
        ],
    );
  }

  function hitView([place, score, expected]: PageHit): HTMLElement {
    const chunk = data.chunks[place];
    return make(
      'li',
      {},
      make('span', { class: 'score' }, score.toFixed(3)),
      expectedMark(expected),
      chunk !== undefined && [
        make('div', {}, source(chunk)),
        make('blockquote', { dir: 'auto' }, text(chunk[3])),
      ],
    );
  }

  function retrievalView(retrieval: PageRetrieval): HTMLElement {
    const { query, filter, threshold, found, hits, nearMiss, ms } = retrieval;
    const filters = Object.entries(filter ?? {}).map(([key, values]) => `${key}=${values.join('|')}`);
    return make(
      'li',
      {},
      make(
        'details',
        {},
        make(
          'summary',
          {},
          make('span', { class: 'query', dir: 'auto' }, text(query)),
          make(
            'span',
            { class: 'muted' },
            ` ${hits.length} of ${found} found, threshold ${threshold}, ${format(ms, 'ms')}${filters.length > 0 ? `, only ${filters.join(', ')}` : ''}`,
          ),
        ),
        hits.length === 0 && make('p', { class: 'none' }, 'Nothing reached the threshold.'),
        make('ol', { class: 'hits' }, hits.map(hitView)),
        nearMiss !== undefined && [
          make('p', { class: 'muted' }, 'The best that stayed below it:'),
          make('ul', { class: 'hits' }, hitView(nearMiss)),
        ],
      ),
    );
  }

  function factsView(run: PageRun): HTMLElement {
    const [firstToken, , , total] = run.times;
    const facts: [string, string][] = [
      ['Steps', String(run.steps ?? 0)],
      ['Searches', `${run.searches ?? 0}${run.duplicates ? `, ${run.duplicates} again` : ''}`],
      [
        'Tokens',
        run.tokens === undefined ? 'no data' : `${run.tokens[2]} (${run.tokens[0]} in, ${run.tokens[1]} out)`,
      ],
      ['First token', firstToken === null ? 'no data' : format(firstToken, 'ms')],
      ['Total', format(total, 'ms')],
    ];
    if (run.cost !== undefined) facts.push(['Cost', format(run.cost, 'money')]);
    if (run.confidence !== undefined) facts.push(['Confidence', run.confidence]);
    if (run.judge !== undefined)
      facts.push(['Judged', run.judge[0].map((score) => score.toFixed(2)).join(', ')]);
    return make(
      'dl',
      { class: 'run-facts' },
      facts.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))),
    );
  }

  return (run) => {
    const citations = run.citations ?? [];
    const retrievals = run.retrievals ?? [];
    return make(
      'div',
      { class: 'run' },
      run.abstained === 1 &&
        make('p', {}, make('span', { class: 'badge plain' }, 'says that it does not know')),
      answerView(run),
      run.judge !== undefined &&
        text(run.judge[1]) !== '' &&
        make('p', { class: 'muted', dir: 'auto' }, `The judge: ${text(run.judge[1])}`),
      factsView(run),
      make('h5', {}, citations.length > 0 ? `Citations (${citations.length})` : 'No citations'),
      citations.length > 0 && make('ul', { class: 'citations' }, citations.map(citationView)),
      make('h5', {}, retrievals.length > 0 ? `Searches (${retrievals.length})` : 'No search'),
      retrievals.length > 0 && make('ul', { class: 'retrievals' }, retrievals.map(retrievalView)),
    );
  };
}
