import { expect, test } from 'vitest';
import { evidenceOf } from '../../../src/judge/facts/evidence.ts';
import { contentOf, findPassage } from '../../../src/judge/facts/find-passage.ts';
import { rolesSwapped, subjectIsNear } from '../../../src/judge/facts/roles.ts';
import { wordsOf } from '../../../src/judge/facts/words.ts';

const swapped = (claim: string, text: string) => rolesSwapped(wordsOf(claim), wordsOf(text));

test('who does what to whom must not be turned around', () => {
  expect(swapped('The client calls the server.', 'The server calls the client.')).toBe(true);
  expect(swapped('The client calls the server.', 'The client calls the server.')).toBe(false);
  expect(swapped('The server calls.', 'Calls the server.')).toBe(false);
});

test('a passive on one side explains the order, on both it does not', () => {
  expect(swapped('The client is called by the server.', 'The server calls the client.')).toBe(false);
  expect(swapped('The server calls the client.', 'The client is called by the server.')).toBe(false);
  expect(swapped('The client is called by the server.', 'The server is called by the client.')).toBe(true);
});

test('the parts of one list may stand in any order', () => {
  expect(swapped('Owls, bats and foxes hunt.', 'Foxes, bats and owls hunt.')).toBe(false);
  expect(swapped('Owls or bats or foxes hunt.', 'Foxes or bats or owls hunt.')).toBe(false);
  expect(swapped('Owls & bats & foxes hunt.', 'Foxes & bats & owls hunt.')).toBe(false);
  expect(swapped('Owls eat bats eat foxes.', 'Foxes hunt bats hunt owls.')).toBe(true);
});

test('words that the text repeats say nothing about the order, nor do those that a claim repeats', () => {
  expect(
    swapped('The client calls the server.', 'The server calls the client, the client, the server.'),
  ).toBe(false);
  expect(swapped('Amber coral amber bronze.', 'Bronze amber coral.')).toBe(false);
});

test('a reversal that begins with the subject may have gaps, any other may not', () => {
  const text = 'amber bronze coral denim ebony';
  expect(swapped('ebony amber coral bronze', text)).toBe(true);
  expect(swapped('amber ebony coral bronze', text)).toBe(true);
  expect(swapped('amber ebony bronze denim coral', text)).toBe(false);
  expect(swapped('amber bronze coral ebony denim', text)).toBe(false);
});

test('of very long sentences the beginning is compared', () => {
  const words = Array.from({ length: 70 }, (_, index) => `item${index}`);
  const turnedAt = (at: number) => [...words.slice(0, at), ...words.slice(at).reverse()].join(' ');
  expect(swapped(turnedAt(60), words.join(' '))).toBe(false);
  expect(swapped(turnedAt(57), words.join(' '))).toBe(true);
});

test('a comparison must not be turned around', () => {
  expect(swapped('Rust is faster than Go.', 'Go is faster than Rust.')).toBe(true);
  expect(swapped('Go is faster than Rust.', 'Go is faster than Rust.')).toBe(false);
  expect(swapped('Go is faster than C.', 'Go is faster than Rust.')).toBe(false);
  expect(swapped('Go is fast.', 'Go is faster than Rust.')).toBe(false);
  expect(swapped('Go is faster than the very old Rust.', 'Rust is faster than C.')).toBe(true);
  expect(swapped('Go is faster than the very old and good Rust.', 'Rust is faster than C.')).toBe(false);
});

/** Whether the passage of a text that shares most with a claim speaks of what the claim is about. */
function isNear(claim: string, text: string, title = ''): boolean {
  const evidence = evidenceOf({ text, title, headings: [] });
  const words = wordsOf(claim);
  return subjectIsNear(words, findPassage(contentOf(words, evidence), evidence), evidence);
}

test('a claim is borne out by a passage that speaks of its subject', () => {
  expect(isNear('Owls can hunt mice in the dark.', 'Owls hunt mice in the dark.')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Foxes hunt mice in the dark.')).toBe(false);
  expect(isNear('Owls can hunt mice in the dark.', 'Owls fly. They hunt mice in the dark.')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Owls fly. Foxes hunt mice in the dark.')).toBe(false);
  expect(isNear('Owls can hunt.', '')).toBe(true);
});

test('a heading may name the subject where the passage begins with what the claim speaks of as well', () => {
  expect(isNear('Owls can hunt mice in the dark.', 'Mice in the dark are prey.', 'Owls')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'They hunt mice in the dark.', 'Owls')).toBe(true);
  expect(isNear('Owls can hunt mice in the dark.', 'Foxes hunt mice in the dark.', 'Owls')).toBe(false);
});

test('only a content word that a verb follows soon, or a plural, is taken for a subject', () => {
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
