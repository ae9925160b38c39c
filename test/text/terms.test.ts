import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexTerms, queryTerms, STOP_WORDS } from '../../src/text/terms.ts';
import { anyCharacter } from '../support/any-character.ts';

test.each([
  ['plain words, stemmed', 'Robots running', ['robot', 'run']],
  ['a dotted name with an underscore', 'rclpy.spin_once', ['rclpy', 'spin', 'onc', 'rclpyspinonc']],
  ['camelCase', 'SimulationApp', ['simul', 'app', 'simulationapp']],
  ['an abbreviation before a word', 'HTTPServer', ['http', 'server', 'httpserver']],
  ['a digit before a capital', 'Vector3Stamped', ['vector3', 'stamp', 'vector3stamped']],
  ['a flag', '--symlink-install', ['symlink', 'instal', 'symlinkinstal']],
  ['a path', '/opt/ros/humble', ['opt', 'ro', 'humbl', 'optroshumbl']],
  ['a namespace', 'std::vector', ['std', 'vector', 'stdvector']],
  ['a version', 'v2.0.1', ['v2', '0', '1', 'v201']],
  ['an error code', 'E0308', ['e0308']],
  ['a possessive', "the robot's arm", ['the', 'robot', 'arm']],
  ['a typographic possessive', 'the robot’s arm', ['the', 'robot', 'arm']],
  ['a contraction', "don't", ['don', 't', 'dont']],
  ['diacritics', 'Café naïve Ångström', ['cafe', 'naiv', 'angstrom']],
  ['diacritics as characters of their own', 'Cafe\u0301s', ['cafe']],
  ['numbers', '3.14 and 1000', ['3', '14', '314', 'and', '1000']],
  ['ligatures and wide letters', 'ﬁle ＡＢＣ', ['file', 'abc']],
  ['digits made of more than digits', '½ ⑴ x²', ['12', '1', 'x2']],
  ['words that are not English', 'Straße улица δρόμους', ['straße', 'улица', 'δρομους']],
  ['a script without spaces', '机器人学', ['机器', '器人', '人学']],
  ['one character of it', '人', ['人']],
  ['scripts side by side', 'ROS节点', ['ro', '节点']],
  ['characters outside the basic plane', '𠀀𠀁𠀂', ['𠀀𠀁', '𠀁𠀂']],
  ['nothing but punctuation', '… -- "*" \u{1f916}', []],
  ['nothing', '', []],
])('%s: %j', (_, text, expected) => {
  expect(indexTerms(text)).toEqual(expected);
});

test('finds Greek words in capitals', () => {
  expect(queryTerms('ΔΡΟΜΟΥΣ')).toEqual(indexTerms('δρόμους'));
});

test('finds a name in any notation', () => {
  const spellings = ['spin_once', 'spin-once', 'spin.once', 'spinOnce', 'SpinOnce', 'spinonce', 'SPINONCE'];
  const whole = new Set(spellings.map((spelling) => indexTerms(spelling).at(-1)));
  expect(whole.size).toBe(1);
});

test.each([
  ['words that say nothing are left out', 'What is the meaning of a node?', ['mean', 'node']],
  ['also as contractions and possessives', "What's a node and why doesn’t it spin?", ['node', 'spin']],
  ['each term counts once', 'node nodes NODE', ['node']],
  ['of stop words alone all count', 'To be or not to be', ['to', 'be', 'or', 'not']],
  ['a stop word inside a name stays', 'is_in', ['is', 'in', 'isin']],
  ['operators are words', 'spin NEAR once', ['spin', 'near']],
  ['a query of nothing has no terms', '"*" ()', []],
])('%s: %j', (_, query, expected) => {
  expect(queryTerms(query)).toEqual(expected);
});

test('has stop words of one lower-case word each', () => {
  for (const word of STOP_WORDS) expect(word).toMatch(/^[a-z]+('[a-z]+)?$/);
});

const texts = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom('Spin', 'once', '_', '.', "'s", 'HTTP', 'é', '½', '文', ' ', '-', 'İ', 'ﷺ', 'ͺ', '7'),
    )
    .map((parts) => parts.join('')),
);

test('returns non-empty lower-case terms of letters and digits', () => {
  fc.assert(
    fc.property(texts, (text) => {
      for (const term of indexTerms(text)) expect(term).toMatch(/^[\p{L}\p{N}]+$/u);
    }),
    { numRuns: 1000 },
  );
});

test('includes the query terms of a text in its index terms', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const terms = new Set(indexTerms(text));
      const asked = queryTerms(text);
      expect(asked.filter((term) => !terms.has(term))).toEqual([]);
      expect(new Set(asked).size).toBe(asked.length);
      expect(asked.length === 0).toBe(terms.size === 0);
    }),
    { numRuns: 1000 },
  );
});

test('ignores the case of English words', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,12}$/), (word) => {
      expect(indexTerms(word.toUpperCase())).toEqual(indexTerms(word));
    }),
  );
});
