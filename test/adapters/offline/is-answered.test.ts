import { expect, test } from 'vitest';
import { isAnswered, missingNames, questionKind } from '../../../src/adapters/offline/is-answered.ts';
import { indexTerms } from '../../../src/text/terms.ts';

const PASSAGES = [
  {
    ref: '1',
    title: 'Kalman filter',
    text: 'The Kalman filter is an estimator. OpenVLA was released in 2024. Möngke Khan is mentioned too.',
    headings: [],
    score: 0.6,
  },
];

function answered(question: string, meaning: number, query = question): boolean {
  return isAnswered({ question, query }, PASSAGES, meaning);
}

test('a name, identifier or number that no passage has is not answered, however alike the rest is', () => {
  const terms = new Set(indexTerms(PASSAGES[0]?.text ?? ''));
  expect(missingNames('What is the Kalman filter?', terms)).toEqual([]);
  expect(missingNames('Who was Mongke Khan?', terms)).toEqual([]);
  expect(missingNames('What does the Kalmann filter do?', terms)).toEqual([]);
  expect(missingNames('How does the Madgwick filter work?', terms)).toEqual(['Madgwick']);
  expect(missingNames('What is robot_localization?', terms)).toEqual(['robot_localization']);
  expect(missingNames('Was it released in 2019?', terms)).toEqual(['2019']);
  expect(missingNames('In case it fails, Could I try again? BTW, I am new.', terms)).toEqual([]);
  expect(missingNames('WHAT IS THE MADGWICK FILTER?', terms)).toEqual([]);
  expect(answered('How does the Madgwick filter work?', 0.9)).toBe(false);
});

test('names in a story before the question do not count', () => {
  expect(answered('Our Siemens line is slow. What is the Kalman filter?', 0.6)).toBe(true);
  expect(answered('Our Siemens line is slow. Why?', 0.6)).toBe(false);
});

test('kinds of question are told by their wording', () => {
  const kinds: Record<string, string> = {
    'Who invented the Kalman filter?': 'fact',
    'In which year was it released?': 'fact',
    'How many GPUs does it need?': 'fact',
    'What does the pump cost?': 'fact',
    'What is the cost function?': 'open',
    'When should I use a service?': 'open',
    'How do I use it?': 'open',
    'Are those the only steps?': 'seldom',
    'Is a twin the same as a model?': 'seldom',
    "Isn't that too long?": 'seldom',
    'But I heard that it is free.': 'seldom',
    'What is the latest version?': 'seldom',
    "What's the weather today?": 'seldom',
  };
  for (const [question, kind] of Object.entries(kinds))
    expect([question, questionKind(question)]).toEqual([question, kind]);
});

test('a fact must be told in its own words, an open question may be answered in others', () => {
  expect(answered('Who invented the Kalman filter?', 0.6)).toBe(false);
  expect(answered('When was OpenVLA released?', 0.4)).toBe(true);
  expect(answered('How can noisy readings be combined?', 0.5)).toBe(true);
  expect(answered('How can noisy readings be combined?', 0.4)).toBe(false);
});

test('what documents seldom say needs a sentence that says just that', () => {
  expect(answered('Is the Kalman filter the same as an estimator?', 0.6)).toBe(false);
  expect(answered('Is the Kalman filter the same as an estimator?', 0.8)).toBe(true);
  expect(answered('What is the latest version of OpenVLA?', 0.9)).toBe(false);
});
