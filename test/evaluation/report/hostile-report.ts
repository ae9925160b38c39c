import type { ReportData } from '../../../src/evaluation/report/report-data.ts';

/** Sets `window.hacked` if any of it is interpreted as HTML or JavaScript. */
export const HOSTILE = [
  '</script><script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '"><svg onload=window.hacked=1>',
  "'-window.hacked-'",
  '<!--<script>',
  ']]>{{window.hacked=1}}',
  '</title></style><script>window.hacked=1</script>',
  '\u202e\u2028\u0000<iframe src="https://evil.example/">',
].join(' ');

const HOSTILE_URL = 'javascript:window.hacked=1//https://evil.example/';

/** Fields with fixed values, which documents and models cannot change. */
const UNCHANGED_FIELDS = new Set([
  'format',
  'kind',
  'program',
  'group',
  'unit',
  'better',
  'status',
  'policy',
  'mode',
  'verdict',
  'confidence',
  'role',
  'test',
  'name',
  'size',
  'errorType',
  'id',
  'metric',
  'date',
]);

/** Adds hostile text to every string of a report, including the names of arms and tags. */
export function hostileReport(report: ReportData): ReportData {
  const arms = new Map(report.arms.map(({ name }, index) => [name, `${HOSTILE} arm ${index}`]));
  const addHostileText = (value: unknown, key: string): unknown => {
    if (Array.isArray(value))
      return value.map((item) => (typeof item === 'string' ? HOSTILE + item : addHostileText(item, key)));
    if (value !== null && typeof value === 'object') {
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          key === 'results' ? (arms.get(name) ?? name) : key === 'tags' ? HOSTILE + name : name,
          addHostileText(inner, name),
        ]),
      );
    }
    if (typeof value !== 'string') return value;
    if (key === 'url') return HOSTILE_URL;
    if (key === 'arm' || key === 'baseline') return arms.get(value) ?? value;
    return UNCHANGED_FIELDS.has(key) ? value : HOSTILE + value;
  };
  const changed = addHostileText(report, '') as ReportData;
  return {
    ...changed,
    arms: changed.arms.map((arm) => ({ ...arm, name: arms.get(arm.name) ?? arm.name })),
    cases: changed.cases.map((item, index) => ({ ...item, id: `${HOSTILE} ${index}` })),
    gates: [{ gate: HOSTILE, arm: HOSTILE, passed: false, line: HOSTILE }],
    header: { ...changed.header, grader: { model: HOSTILE, agreement: null }, currency: HOSTILE },
    notes: [HOSTILE],
  };
}
