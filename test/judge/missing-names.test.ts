import { expect, test } from 'vitest';
import { missingNames } from '../../src/judge/missing-names.ts';
import { indexTerms } from '../../src/text/terms.ts';

const terms = new Set(indexTerms('The Kalman filter of the actor critic estimates orientation.'));

test('names and identifiers that nothing has are missing, whatever way they are written', () => {
  expect(missingNames('How does the Kalman filter work?', terms)).toEqual([]);
  expect(missingNames('How does the Kalmann filter work?', terms)).toEqual([]);
  expect(missingNames('Is the Actor-Critic fast?', terms)).toEqual([]);
  expect(missingNames('How does the Madgwick filter differ from spin_once?', terms)).toEqual([
    'Madgwick',
    'spin_once',
  ]);
});

test('what is the own of whoever asks is no name: numbers, hosts and short words', () => {
  expect(missingNames('Why does my PC at host.example.com send 404 on 10.0.0.1?', terms)).toEqual([]);
});
