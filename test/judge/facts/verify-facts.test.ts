import { expect, test } from 'vitest';
import { verifyFacts } from '../../../src/judge/facts/verify-facts.ts';

const bare = (text: string) => ({ text, title: '', headings: [] });
const facts = (claim: string, text: string) => verifyFacts(claim, bare(text));
const missing = (claim: string, text: string) => facts(claim, text).missing;

test('is verbatim only for whole sentences', () => {
  const text = 'Owls hunt at night. They see well. Foxes sleep.';
  expect(facts('Owls hunt at night.', text).isVerbatim).toBe(true);
  expect(facts('owls HUNT at night', text).isVerbatim).toBe(true);
  expect(facts('Owls hunt at night. They see well.', text).isVerbatim).toBe(true);
  expect(facts('Owls hunt', text).isVerbatim).toBe(false);
  expect(facts('hunt at night.', text).isVerbatim).toBe(false);
  expect(facts('They see well. Foxes', text).isVerbatim).toBe(false);
  expect(facts('...', text).isVerbatim).toBe(false);
});

test('treats a code block as a sentence', () => {
  const text = 'Start it so:\n\n```\nros2 run demo\n```\n\nThen wait.';
  expect(facts('ros2 run demo', text).isVerbatim).toBe(true);
});

test('requires quotes in the text, title or headings, in the same case except for the first letter', () => {
  const text = 'The last message wins every time.';
  expect(missing('"the last message wins"', text).quotes).toEqual([]);
  expect(missing('"The last message wins"', text).quotes).toEqual([]);
  expect(missing('"Last message wins every time"', text).quotes).toEqual([]);
  expect(missing('"the Last message wins"', text).quotes).toEqual(['the Last message wins']);
  expect(missing('"message wins the last"', text).quotes).toEqual(['message wins the last']);
  const titled = { text: '', title: 'How owls hunt', headings: ['In the dark'] };
  expect(verifyFacts('"how owls hunt" and "in the dark"', titled).missing.quotes).toEqual([]);
});

test('requires identifiers as whole words, possibly in the plural', () => {
  const text = 'Call spin_once of rclpy with the QoSProfiles of 1.2.3.';
  const lacks = (name: string) => missing(`Call \`${name}\`.`, text).identifiers.length > 0;
  for (const name of ['spin_once', 'SPIN_ONCE', 'spin_once()', 'QoSProfile', 'rclpy', '1.2.3'])
    expect(lacks(name), name).toBe(false);
  for (const name of ['spin', 'once', 'clpy', 'rclp', 'QoSProf', '1.2', '2.3.1'])
    expect(lacks(name), name).toBe(true);
  expect(missing('Call `print("x")` now.', 'Call print(“x”) now.').identifiers).toEqual([]);
  expect(missing('Use `1.2` now.', 'Since 1.2.3 and 1.2, all is well.').identifiers).toEqual([]);
  expect(missing('Use `rclpy` now.', 'Not rclpyx, but rclpy.').identifiers).toEqual([]);
});

test('accepts camel-case names with spaces or hyphens', () => {
  for (const text of ['Open USD is here.', 'open-usd is here.', 'Many Open USDs are here.'])
    expect(missing('See `OpenUSD` here.', text).identifiers, text).toEqual([]);
  for (const text of ['Reopen USD is here.', 'Open USDX is here.', 'Open a USD here.', 'Open/USD is here.'])
    expect(missing('See `OpenUSD` here.', text).identifiers, text).toEqual(['OpenUSD']);
});

test('requires names in the text, title or headings', () => {
  expect(missing('The tower stands in Paris.', 'The tower stands in Rome.').names).toEqual(['Paris']);
  expect(
    verifyFacts('The tower stands in Paris.', { text: 'It stands.', title: '', headings: ['Paris'] }).missing
      .names,
  ).toEqual([]);
  expect(missing('It runs on the OpenUsd.', 'It runs on open usd.').names).toEqual([]);
});

test('requires the same unit of a number, or none', () => {
  expect(missing('It takes 30 seconds.', 'It takes 30 s.').numbers).toEqual([]);
  expect(missing('It takes 30.', 'It takes 30 s.').numbers).toEqual([]);
  expect(missing('It takes 30 seconds.', 'It takes 30.').numbers).toEqual([]);
  expect(missing('It takes 30 seconds.', 'It takes 30 minutes.').numbers).toEqual(['30']);
  expect(missing('It takes 30 seconds.', 'It takes 31 seconds.').numbers).toEqual(['30']);
  expect(missing('It is 30 miles away.', 'It is 30 kilometers away; see page 30.').numbers).toEqual(['30']);
  expect(missing('It is 30 miles away.', 'It is 30 miles, or 48 km, away; page 30.').numbers).toEqual([]);
  expect(
    verifyFacts('It takes 30.', { text: 'It is so.', title: 'The 30', headings: [] }).missing.numbers,
  ).toEqual([]);
});

test('accepts a number that is part of a name', () => {
  expect(missing('It runs on ROS 2.', 'It runs on ROS2.').numbers).toEqual([]);
  expect(missing('It runs on ROS-2.', 'It runs on ROS2.').numbers).toEqual([]);
  expect(missing('It runs on ROS 2.', 'It runs on XYZ2.').numbers).toEqual(['2']);
  expect(missing('It runs on ROS 2.', 'It runs on ROS3.').numbers).toEqual(['2']);
});

test('counts numbers outside of the best passage', () => {
  const text = 'Owls hunt mice at night. They see well. Foxes sleep a lot. Bats eat 40 moths.';
  expect(facts('Owls hunt 40 mice at night.', text)).toMatchObject({
    numbersFar: 1,
    missing: { numbers: [] },
  });
  expect(facts('Bats eat 40 moths.', text).numbersFar).toBe(0);
});

/** Whether the passage of a text that shares most with a claim mentions the subject of the claim. */
const isNear = (claim: string, text: string, title = '') =>
  !verifyFacts(claim, { text, title, headings: [] }).isSubjectFar;

test('requires the subject of a claim in the passage', () => {
  expect(isNear('Owls can hunt mice in the dark.', 'Owls hunt mice in the dark.')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Foxes hunt mice in the dark.')).toBe(false);
  expect(isNear('Owls can hunt mice in the dark.', 'Owls fly. They hunt mice in the dark.')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Owls fly. Foxes hunt mice in the dark.')).toBe(false);
  expect(isNear('Owls can hunt.', '')).toBe(true);
});

test('accepts the subject in a heading if the claim mentions the subject of the passage', () => {
  expect(isNear('Owls can hunt mice in the dark.', 'Mice in the dark are prey.', 'Owls')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'They hunt mice in the dark.', 'Owls')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Foxes hunt mice in the dark.', 'Owls')).toBe(false);
});

test('takes a plural, or a content word with a verb soon after it, for the subject', () => {
  const text = 'Foxes hunt mice in the dark.';
  expect(isNear('The owl is hunting mice in the dark.', text)).toBe(false);
  expect(isNear('The owl hunts mice in the dark.', text)).toBe(false);
  expect(isNear("The owl doesn't hunt mice in the dark.", text)).toBe(false);
  expect(isNear('Owls hunt mice in the dark.', text)).toBe(false);
  expect(isNear('The owl near old barns hunts mice in the dark.', text)).toBe(false);
  expect(isNear('Hunt without mercy the mouse in the dark.', text)).toBe(true);
  expect(isNear('The owl with one big eye may hunt mice in the dark.', text)).toBe(true);
  expect(isNear('Roughly half is hunting mice in the dark.', text)).toBe(false);
  expect(isNear('Silently is how they hunt mice in the dark.', text)).toBe(true);
  expect(isNear('3d is how they hunt mice in the dark.', text)).toBe(true);
});
