import { expect, test } from 'vitest';
import { verifyFacts } from '../../../src/judge/facts/verify-facts.ts';

const contradicts = (claim: string, text: string) =>
  verifyFacts(claim, { text, title: '', headings: [] }).contradicts;

test.each([
  ['always', 'never'],
  ['before', 'after'],
  ['above', 'below'],
  ['more', 'less'],
  ['more', 'fewer'],
  ['most', 'least'],
  ['first', 'last'],
  ['oldest', 'newest'],
  ['older', 'newer'],
  ['longest', 'shortest'],
  ['longer', 'shorter'],
  ['largest', 'smallest'],
  ['larger', 'smaller'],
  ['higher', 'lower'],
  ['highest', 'lowest'],
  ['faster', 'slower'],
  ['fast', 'slow'],
  ['minimum', 'maximum'],
  ['best', 'worst'],
  ['early', 'late'],
  ['earlier', 'later'],
  ['increase', 'decrease'],
  ['increase', 'reduce'],
  ['enable', 'disable'],
  ['allow', 'forbid'],
  ['allow', 'prevent'],
  ['accept', 'reject'],
  ['include', 'exclude'],
  ['succeed', 'fail'],
  ['success', 'failure'],
  ['start', 'stop'],
  ['open', 'close'],
  ['add', 'remove'],
  ['true', 'false'],
  ['required', 'optional'],
  ['mandatory', 'optional'],
  ['synchronous', 'asynchronous'],
  ['static', 'dynamic'],
  ['internal', 'external'],
  ['public', 'private'],
  ['left', 'right'],
  ['positive', 'negative'],
  ['compatible', 'incompatible'],
  ['valid', 'invalid'],
  ['correct', 'incorrect'],
  ['complete', 'incomplete'],
  ['visible', 'invisible'],
  ['dependent', 'independent'],
  ['active', 'inactive'],
  ['connect', 'disconnect'],
])('%s contradicts %s and vice versa', (one, other) => {
  expect(contradicts(`The lamp is ${one}.`, `The lamp is ${other}.`)).toBe(true);
  expect(contradicts(`The lamp is ${other}.`, `The lamp is ${one}.`)).toBe(true);
  expect(contradicts(`The lamp is ${one}.`, `The lamp is ${one}.`)).toBe(false);
});

test('treats un- and non- as opposites, except for short words', () => {
  expect(contradicts('The link is unstable.', 'The link is stable.')).toBe(true);
  expect(contradicts('The link is stable.', 'The link is unstable.')).toBe(true);
  expect(contradicts('The solver is nonlinear.', 'The solver is linear.')).toBe(true);
  expect(contradicts('The solver is linear.', 'The solver is nonlinear.')).toBe(true);
  expect(contradicts('The shoe is unfit.', 'The shoe is fit.')).toBe(false);
  expect(contradicts('The shoe is fit.', 'The shoe is unfit.')).toBe(false);
});

test('accepts a claim that mentions both opposites like the text', () => {
  expect(contradicts('It drops the oldest rather than the newest.', 'It drops the newest.')).toBe(false);
  expect(contradicts('It drops the oldest.', 'It drops the newest.')).toBe(true);
  expect(contradicts('It drops the oldest.', 'It drops the oldest rather than the newest.')).toBe(false);
});

test.each(
  `not cannot never no none neither nor nothing nobody nowhere without hardly can't couldn't didn't doesn't don't
  hadn't hasn't haven't isn't aren't wasn't weren't won't wouldn't shouldn't mustn't needn't`.split(/\s+/),
)('"%s" denies what follows it', (cue) => {
  expect(contradicts(`It is ${cue} lamps glow.`, 'Lamps glow.')).toBe(true);
  expect(contradicts(`It is ${cue} fans turn.`, 'Lamps glow.')).toBe(false);
});

test.each(['only', 'just', 'merely'])('"not %s" denies nothing', (word) => {
  expect(contradicts(`Not ${word} lamps glow.`, 'Lamps glow.')).toBe(false);
  expect(contradicts(`Never ${word} lamps glow.`, 'Lamps glow.')).toBe(true);
});

test('limits a negation to three content words of its clause', () => {
  expect(contradicts('It was not amber bronze coral.', 'It was coral.')).toBe(true);
  expect(contradicts('It was not amber bronze coral denim.', 'It was denim.')).toBe(false);
  expect(contradicts('It was not amber, and coral came.', 'The coral came.')).toBe(false);
  expect(contradicts('It was not amber; coral came.', 'The coral came.')).toBe(false);
  expect(contradicts('It was not to be in or on or at the coral.', 'It was coral.')).toBe(true);
  expect(contradicts('It was not to be in or on or at or by or with the coral.', 'It was coral.')).toBe(
    false,
  );
});

test('lets nothing, none, nobody and nowhere deny the word before them', () => {
  const text = 'The queue keeps messages.';
  for (const cue of ['nothing', 'none', 'nobody', 'nowhere'])
    expect(contradicts(`The queue keeps ${cue} for latecomers.`, text), cue).toBe(true);
  expect(contradicts('The queue keeps hardly latecomers.', text)).toBe(false);
  expect(contradicts('Messages the queue keeps not.', text)).toBe(true);
  expect(contradicts('Keeps it is to be or not.', text)).toBe(false);
});

test('accepts a shared negation, but not one of a neighbouring sentence', () => {
  expect(contradicts('The lamp never glows.', 'The lamp does not glow.')).toBe(false);
  expect(contradicts('The lamp does not glow.', 'The lamp glows. The fan does not glow.')).toBe(true);
  expect(contradicts('The lamp does not glow.', 'The lamp burns, but the lamp does not glow.')).toBe(false);
});

test('finds a claim that asserts most of what the text denies', () => {
  const text = 'The lamp does not glow brightly today.';
  expect(contradicts('The lamp glows brightly today.', text)).toBe(true);
  expect(contradicts('The lamp glows brightly.', text)).toBe(true);
  expect(contradicts('The lamp glows.', text)).toBe(false);
  expect(contradicts('The lamp does not glow brightly today.', text)).toBe(false);
});

test('finds no contradiction to an empty text', () => {
  expect(contradicts('The lamp does not glow.', '')).toBe(false);
});
