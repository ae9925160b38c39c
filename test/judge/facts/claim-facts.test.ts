import { expect, test } from 'vitest';
import { isUnit, namesIn, numbersIn } from '../../../src/judge/facts/claim-facts.ts';

/** Ways to write one and the same unit. */
const UNITS = [
  ['%', 'percent', 'pct'],
  ['ms', 'msec', 'milliseconds'],
  ['µs', 'us', 'microseconds'],
  ['ns', 'nanoseconds'],
  ['s', 'sec', 'secs', 'second', 'seconds'],
  ['min', 'mins', 'minutes'],
  ['h', 'hr', 'hrs', 'hours'],
  ['day', 'days'],
  ['week', 'weeks'],
  ['month', 'months'],
  ['year', 'years'],
  ['Hz', 'hertz'],
  ['kHz', 'kilohertz'],
  ['MHz', 'megahertz'],
  ['GHz', 'gigahertz'],
  ['KB', 'KiB', 'kilobytes'],
  ['MB', 'MiB', 'megabytes'],
  ['GB', 'GiB', 'gigabytes'],
  ['TB', 'TiB', 'terabytes'],
  ['mm', 'millimetres', 'millimeters'],
  ['cm', 'centimetres', 'centimeters'],
  ['m', 'metres', 'meters'],
  ['km', 'kilometres', 'kilometers'],
  ['g', 'grams'],
  ['kg', 'kilograms'],
  ['V', 'volts'],
  ['W', 'watts'],
  ['kW', 'kilowatts'],
  ['°', 'degrees', 'deg'],
  ['rad', 'radians'],
  ['fps'],
  ['px', 'pixels'],
  ['thousand'],
  ['million'],
  ['billion'],
];

test('a unit is the same however it is written, and another one than all others', () => {
  const seen = new Set<string | null | undefined>();
  for (const names of UNITS) {
    const units = new Set(names.map((name) => numbersIn(`It is 30 ${name} now.`)[0]?.unit));
    expect([...units], names.join()).toEqual([expect.any(String)]);
    expect(names.every(isUnit)).toBe(true);
    for (const unit of units) {
      expect(seen).not.toContain(unit);
      seen.add(unit);
    }
  }
});

test('a word after a number is a unit only if it is one, or is written with it', () => {
  expect(numbersIn('30 frogs')[0]?.unit).toBeNull();
  expect(numbersIn('30frogs')[0]?.unit).toBe('frogs');
  expect(numbersIn('three seconds')).toMatchObject([{ value: '3', unit: 's', spelled: true }]);
});

test('words with a capital are names, unless more than seven of ten have one', () => {
  expect(namesIn('The Owl Saw Rome And Paris In one long night.')).toEqual(['Owl', 'Saw', 'Rome', 'Paris']);
  expect(namesIn('The Owl Saw Rome And Paris In One long night.')).toEqual([]);
  expect(namesIn('The Owl Saw Rome.')).toEqual(['Owl', 'Saw', 'Rome']);
});
