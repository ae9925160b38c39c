import { expect, test } from 'vitest';
import { renderLedger } from '../../../src/cli/terminal/render-ledger.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import type { ConversationTurn } from '../../../src/domain/conversation-turn.ts';
import { createRetrievalContext } from '../../../src/domain/retrieval-context.ts';
import { chunk, citation, NOW } from '../../domain/arbitraries.ts';
import { fakeStreams } from '../support/fake-streams.ts';
import { found, turnOf } from '../support/scripted-agent.ts';

function printed(turn: ConversationTurn): string {
  const { streams, out } = fakeStreams('pipe');
  renderLedger(createTerminal(streams.stdout), turn);
  return out();
}

test('prints the query, the passages and their use for each step', () => {
  expect(printed(turnOf())).toBe(
    [
      'Question: What is a topic?',
      'Step 1  searched: topics in ROS 2  only module=basics',
      '        Topics › Publishing  0.80  cited as [1], supported',
      '        Services › Calls  0.70  not cited',
      '        Actions  0.90  not cited',
      'Step 2  answered',
      'Grounded: 1 of 1 citations supported, confidence high.',
      '',
    ].join('\n'),
  );
});

test('marks unsupported citations and reports removed markers', () => {
  const unknown = citation({ marker: '7', chunkId: null, verdict: 'unknown_source' });
  const turn = turnOf({ citations: [citation({ verdict: 'unsupported' }), unknown], grounded: false });
  const text = printed(turn);
  expect(text).toContain('cited as [1], unsupported\n');
  expect(text).toContain('[7] was removed from the answer');
  expect(text).toContain('Not grounded: 0 of 2 citations supported');
});

test('prints the verdict, the reason and the evidence of each checked sentence', () => {
  const sentence = {
    start: 0,
    end: 31,
    text: 'A node of Heidelberg publishes.',
    refs: ['1'],
    verdict: 'unsupported' as const,
    reason: { kind: 'name' as const, text: '"Heidelberg" is not in [1]' },
    evidence: { chunkId: 'c1', start: 0, end: 17, text: 'A node publishes.' },
  };
  const turn = turnOf({
    answer: sentence.text,
    sentences: [sentence],
    checkedBy: 'words',
  });
  expect(printed(turn)).toContain(
    [
      'unsupported  "A node of Heidelberg publishes."',
      '        flagged: "Heidelberg" is not in [1]',
      '        closest: "A node publishes."',
      'Grounded: 1 of 1 citations supported, confidence high.',
    ].join('\n'),
  );
});

test('explains a search without results', () => {
  const empty = { query: 'weather', chunks: [], scoreThreshold: 0.35, queryTimeMs: 1, retrievedAt: NOW };
  const none = { citations: [], grounded: false };
  const near = createRetrievalContext({ ...empty, nearMiss: chunk({ score: 0.2 }) });
  expect(printed(turnOf(none, [near]))).toContain(
    'No results. The closest, "Topics", scored 0.20, below the threshold of 0.35',
  );
  const filtered = createRetrievalContext({ ...empty, excludedByFilter: 3 });
  expect(printed(turnOf(none, [filtered]))).toContain('No results: the filter excluded 3 relevant passages');
});

test('reports a turn without a search', () => {
  expect(printed(turnOf({ answer: 'Hello!', citations: [], grounded: false }, []))).toContain(
    'Step 1  answered without a search\nNot grounded: no citations',
  );
});

test('removes escape sequences of documents', () => {
  const evil = '\x1b]0;owned\x07\x1b[2J\x9b31m\u202e';
  const hostile = createRetrievalContext({
    ...found,
    query: `q${evil}`,
    chunks: [
      chunk({ title: `T${evil}\n`, headings: [`H${evil}`], text: `Text ${evil} q.`, url: `x:${evil}` }),
    ],
    nearMiss: chunk({ title: evil }),
  });
  expect(printed(turnOf({}, [hostile]))).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/);
});
