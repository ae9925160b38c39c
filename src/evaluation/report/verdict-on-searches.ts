import { counted, quoted } from '../../text/phrasing.ts';
import type { SearchWorth } from './comparison.ts';
import { formatP, formatValue, joined } from './format-value.ts';
import type { SearchKind } from './report-case.ts';
import type { ReportData } from './report-data.ts';

/** What the searches of an arm were worth, and what they took for nothing. */
export function verdictOnSearches(
  { arm, kinds, unknown, searched, notSearched }: Omit<SearchWorth, 'verdict'>,
  { currency }: Pick<ReportData['header'], 'currency'>,
): string[] {
  const countOf = (kind: SearchKind) => kinds.find((one) => one.kind === kind)?.turns ?? 0;
  const [needed, idle, harmful] = [countOf('needed'), countOf('idle'), countOf('harmful')];
  const [missed, spared] = [countOf('missed'), countOf('spared')];
  const wasted = kinds.find(({ kind }) => kind === 'idle');
  const price = [
    ...(wasted?.money == null ? [] : [`${formatValue(wasted.money, 'money')} ${currency ?? ''}`.trim()]),
    ...(wasted?.tokens == null ? [] : [`${wasted.tokens.toFixed(0)} tokens`]),
    ...(wasted?.ms == null ? [] : [formatValue(wasted.ms, 'ms')]),
  ];
  return [
    ...(needed + idle + harmful > 0
      ? [
          `${quoted(arm)} searched in ${counted(needed + idle + harmful, 'turn')}: ${needed} needed it, ${idle} came to the same without it, ${harmful} ${harmful === 1 ? 'was' : 'were'} right without it alone${evidence(searched)}.`,
        ]
      : []),
    ...(missed + spared > 0
      ? [
          `It did not search in ${counted(missed + spared, 'turn')}: ${missed} ${missed === 1 ? 'was' : 'were'} wrong for want of a search, ${spared} lost nothing by it${evidence(notSearched)}.`.replace(
            /^It/,
            needed + idle + harmful > 0 ? 'It' : quoted(arm),
          ),
        ]
      : []),
    ...(idle > 0 && price.length > 0 ? [`A search that was idle added ${joined(price)} to its turn.`] : []),
    ...(unknown > 0
      ? [
          `Of ${counted(unknown, 'turn')} nothing can be said: no arm decided otherwise, or the case does not say what is right.`,
        ]
      : []),
  ];
}

function evidence(found: SearchWorth['searched']): string {
  if (found === null || found.n === 0) return '';
  const { difference, interval, adjustedP, conclusion } = found;
  const points = (share: number) => `${share > 0 ? '+' : ''}${Number((share * 100).toFixed(1))}`;
  const range = interval === null ? '' : `, 95 % interval ${points(interval[0])} to ${points(interval[1])}`;
  const what = conclusion === 'equivalent' ? 'no difference that matters' : formatP(adjustedP);
  return ` (right answers by searching: ${points(difference)} points${range}; ${what})`;
}
