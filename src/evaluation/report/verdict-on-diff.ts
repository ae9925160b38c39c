import { counted, quoted } from '../../text/phrasing.ts';
import { answersOf } from './decide.ts';
import type { RunDiff, SettingChange } from './diff-runs.ts';
import { formatP } from './format-value.ts';

/** What changed between two runs. */
export function sentenceOnDiff({ before, after, shared, metrics, flipped }: RunDiff): string {
  const headline = answersOf(metrics);
  const now = `${after.run}${after.arm === before.arm ? '' : ` (${quoted(after.arm)})`}`;
  if (headline === undefined) return `No case says what is right, so ${now} cannot be told better or worse.`;
  const lost = headline.worse.length;
  const gained = headline.better.length;
  if (flipped.length === 0) return `No answer of ${counted(shared, 'case')} changed between right and wrong.`;
  const counts = `${lost} of ${headline.n} answers got worse and ${gained} better`;
  const proven = {
    better: `more answers are right than before (${formatP(headline.adjustedP)})`,
    worse: `fewer answers are right than before (${formatP(headline.adjustedP)})`,
    equivalent: 'on the whole nothing that matters changed',
    undecided: `not more than chance may do (${formatP(headline.adjustedP)})`,
    'too few': 'too few to prove anything',
  }[headline.conclusion];
  return `${counts}: ${proven}.`;
}

/** What is noted by a hash: that it is another one is all that can be told. */
const BY_HASH: Record<string, string> = {
  documents: 'other documents',
  cases: 'other cases',
  systemPrompt: 'another system prompt',
  abstentionPhrases: 'other abstention phrases',
};

/** What two runs differ in, before what came of it. */
export function sentenceOnSettings({ settings }: Pick<RunDiff, 'settings'>): string {
  if (settings.length === 0)
    return 'The settings, cases, documents and versions that were noted are the same.';
  return `Set otherwise: ${settings.map(changeOf).join('; ')}.`;
}

function changeOf({ setting, before, after }: SettingChange): string {
  const shown = (value: SettingChange['before']) =>
    typeof value === 'boolean' ? (value ? 'on' : 'off') : value === null ? 'none' : String(value);
  return BY_HASH[setting] ?? `${setting} ${shown(before)} → ${shown(after)}`;
}
