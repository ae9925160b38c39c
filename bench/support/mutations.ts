import { findClaimedNames, findDigits } from '../../src/citations/check-sentence.ts';

/** A supported sentence, changed so that it is no longer supported. */
export interface Mutation {
  kind: 'number' | 'name' | 'unit' | 'negation' | 'code';
  text: string;
}

const OTHER_UNITS: Record<string, string> = {
  million: 'billion',
  billion: 'million',
  percent: 'points',
  seconds: 'minutes',
  minutes: 'hours',
  hours: 'days',
  days: 'weeks',
  weeks: 'months',
  months: 'years',
  years: 'months',
  miles: 'kilometers',
  feet: 'meters',
  kilometers: 'miles',
  meters: 'feet',
};
const UNIT = new RegExp(`(?<=\\d[\\s-])(${Object.keys(OTHER_UNITS).join('|')})\\b`, 'i');
const AUXILIARY = /\b(is|are|was|were|can|could|will|would|should|has|have|had|may|must)\b(?! not\b|n't)/i;
const NEGATED = /\b(is|are|was|were|can|could|will|would|should|has|have|had|may|must) not\b/i;

export function hasUnit(claim: string): boolean {
  return UNIT.test(claim);
}

/** All possible changes of a claim. New numbers and names do not occur in the source. */
export function createMutations(claim: string, source: string, otherNames: readonly string[]): Mutation[] {
  const found: Mutation[] = [];
  const number = /(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)/.exec(claim);
  if (number !== null && !claim.includes('`')) {
    const given = new Set(findDigits(source).map(({ value }) => value));
    const digits = Number(number[0].replaceAll(',', ''));
    const other = [7, 13, 29, 111]
      .map((by) => String(digits + by))
      .find((value) => !given.has(Number(value)));
    if (other !== undefined)
      found.push({ kind: 'number', text: replaceAt(claim, number.index, number[0], other) });
  }
  const names = findClaimedNames(claim)
    .map(({ name }) => name)
    .filter((name) => claim.split(name).length === 2);
  const [name] = names;
  const lower = source.toLowerCase();
  const foreign = otherNames.find((other) => !lower.includes(other.toLowerCase()) && !claim.includes(other));
  if (name !== undefined && foreign !== undefined) {
    found.push({ kind: 'name', text: claim.replace(name, foreign) });
  }
  const unit = UNIT.exec(claim);
  if (unit !== null) {
    found.push({
      kind: 'unit',
      text: replaceAt(claim, unit.index, unit[0], OTHER_UNITS[unit[0].toLowerCase()] ?? unit[0]),
    });
  }
  if (NEGATED.test(claim)) found.push({ kind: 'negation', text: claim.replace(NEGATED, '$1') });
  else if (AUXILIARY.test(claim)) found.push({ kind: 'negation', text: claim.replace(AUXILIARY, '$1 not') });
  const code = /`[a-z]\w*(?:[._]\w+)*`/i.exec(claim);
  if (code !== null) found.push({ kind: 'code', text: claim.replace(code[0], '`make_widget`') });
  return found;
}

function replaceAt(text: string, start: number, old: string, replacement: string): string {
  return `${text.slice(0, start)}${replacement}${text.slice(start + old.length)}`;
}
