import { expect, test } from 'vitest';
import {
  findClaimedNumbers,
  findIdentifiers,
  findNames,
  findNumbers,
  findQuotes,
  isNumberWord,
  isUnitWord,
} from '../../../src/judge/facts/claim-facts.ts';

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
  ['decade', 'decades'],
  ['century', 'centuries'],
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
  ['inch', 'inches'],
  ['foot', 'feet', 'ft'],
  ['yard', 'yards'],
  ['mile', 'miles'],
  ['acre', 'acres'],
  ['hectare', 'hectares'],
  ['litre', 'liters'],
  ['gallon', 'gallons'],
  ['ounce', 'oz'],
  ['pounds', 'lb', 'lbs'],
  ['tons', 'tonnes'],
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
  ['trillion'],
  ['point', 'points'],
  ['dollar', 'dollars'],
  ['euro', 'euros'],
];

test('maps all names of a unit to one', () => {
  const seen = new Set<string | null | undefined>();
  for (const names of UNITS) {
    const units = new Set(names.map((name) => findNumbers(`It is 30 ${name} now.`)[0]?.unit));
    expect([...units], names.join()).toEqual([expect.any(String)]);
    expect(names.every(isUnitWord)).toBe(true);
    for (const unit of units) {
      expect(seen).not.toContain(unit);
      seen.add(unit);
    }
  }
});

test('recognizes known units, and any suffix without a space', () => {
  expect(findNumbers('30 frogs')[0]?.unit).toBeNull();
  expect(findNumbers('30frogs')[0]?.unit).toBe('frogs');
  expect(findNumbers('30 US airlines')[0]?.unit).toBeNull();
  expect(findNumbers('three seconds')).toMatchObject([{ value: '3', unit: 's', spelled: true }]);
});

test('treats capitalized words as names, except in title case', () => {
  expect(findNames('The Owl Saw Rome And Paris In one long night.')).toEqual(['Owl', 'Saw', 'Rome', 'Paris']);
  expect(findNames('The Owl Saw Rome And Paris In One long night.')).toEqual([]);
  expect(findNames('The Owl Saw Rome.')).toEqual(['Owl', 'Saw', 'Rome']);
  expect(findNames('The Owl Saw Rome Now.')).toEqual([]);
});

test('ignores capitals at the start of sentences, and strips suffixes of names', () => {
  expect(findNames('Owls like Rome.')).toEqual(['Rome']);
  expect(findNames('It is so. Owls like it: Foxes do! Bats? "Mice" (Rats) “Voles”')).toEqual([]);
  expect(findNames("It is Anna's or Anna’s and James' house.")).toEqual(['Anna', 'James']);
  expect(findNames('It flies from Rome-Paris to pre-Columbian Lima/Quito.')).toEqual([
    'Rome',
    'Paris',
    'Columbian',
    'Lima',
    'Quito',
  ]);
  expect(findNames('So I think The owl of `Rome` is iOS.')).toEqual([]);
});

test('finds quotes of three words or more and splits them at ellipses', () => {
  expect(findQuotes('He said "two words" and "three short words".')).toEqual(['three short words']);
  expect(findQuotes('“one two three” and «four five six»')).toEqual(['one two three', 'four five six']);
  expect(findQuotes('"the owl … in the dark"')).toEqual(['the owl ', ' in the dark']);
  expect(findQuotes('"call `spin` first" with `a "b c d" e`')).toEqual(['call `spin` first']);
  // Texts in code are no quotes, whatever the code stands in.
  expect(findQuotes('raise PlanError(f"step {i}: nothing to place") if name == "one two three"')).toEqual([]);
  expect(findQuotes('It says so ("one two three") and: "four five six".')).toEqual([
    'one two three',
    'four five six',
  ]);
  expect(findQuotes('"the owl [...] in the dark ..."')).toEqual(['the owl ', ' in the dark ']);
  expect(findQuotes('Run `echo "one two three"` now.')).toEqual([]);
});

test.each([
  ['a flag', 'Set --dry-run now.', ['--dry-run']],
  ['snake case', 'Call spin_once now.', ['spin_once']],
  ['a dotted name', 'Use rclpy.executors now.', ['rclpy.executors']],
  ['a name with colons', 'Use std::vector now.', ['std::vector']],
  ['a path', 'Open /etc/passwd now.', ['/etc/passwd']],
  ['a version', 'Since 1.2.3 and v2.', ['1.2.3', 'v2']],
  ['camel case', 'The addNode of QoSProfile.', ['addNode', 'QoSProfile']],
  ['what stands in backticks', 'Call `spin()` or ` x y ` or `...`.', ['spin', 'x y']],
  ['no plain word', 'An owl - a 1.5 kg bird - hunts.', []],
])('finds identifiers: %s', (_, sentence, names) => {
  expect(findIdentifiers(sentence)).toEqual(names);
});

test('normalizes the notation of numbers', () => {
  const valueIn = (text: string) => findNumbers(`It is ${text} now.`)[0]?.value;
  for (const text of ['1500', '1,500', '1\u00a0500', '1\u202f500', "1'500", '+1500', '1500.0', '01500'])
    expect(valueIn(text), text).toBe('1500');
  expect(['-5', '−5', '-05', '0.50', '007'].map(valueIn)).toEqual(['-5', '-5', '-5', '0.5', '7']);
  expect(findNumbers('version 1.2.3 of a1 and b_2')).toEqual([]);
});

test('reads number words from zero to twelve, and "one" only with a unit', () => {
  const spelled = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
  expect(findNumbers(spelled.join(', ')).map(({ value }) => Number(value))).toEqual(
    spelled.map((_, at) => at),
  );
  expect(findClaimedNumbers('One owl and one of two.').map(({ value }) => value)).toEqual(['2']);
  expect(findClaimedNumbers('It takes one second or 1 owl.')).toMatchObject([
    { value: '1', unit: null, spelled: false },
    { value: '1', unit: 's', spelled: true },
  ]);
  expect(findNumbers('someone, twenty-one, often')).toEqual([]);
});

test('returns the offset of each number', () => {
  expect(findNumbers('It takes 30 seconds or three minutes.').map(({ start }) => start)).toEqual([9, 23]);
});

test('recognizes figures and number words', () => {
  for (const word of ['30', '-1.5', '+7', '12%', '1,500', 'three', 'Twelve'])
    expect(isNumberWord(word), word).toBe(true);
  for (const word of ['thirteen', 'x3', '3x', '']) expect(isNumberWord(word), word).toBe(false);
});
