import { formatValue, joined } from '../../evaluation/report/format-value.ts';
import { gatesFailed } from '../../evaluation/report/gate-lines.ts';
import type { PageData } from '../../evaluation/report/page-data.ts';
import { ArmName, byArm, Scrollable, Section } from './parts.tsx';

const SETTINGS = [
  ['model', 'Model'],
  ['policy', 'Policy'],
  ['mode', 'Search mode'],
  ['topK', 'Passages a search'],
  ['scoreThreshold', 'Score threshold'],
  ['rerank', 'Reranking'],
  ['temperature', 'Temperature'],
  ['maxSteps', 'Steps at most'],
] as const;

export function Gates({ data: { gates } }: { data: PageData }) {
  const failure = gatesFailed(gates);
  if (gates.length === 0) {
    return (
      <Section id="gates" title="Gates">
        <p class="muted">No gate was set.</p>
      </Section>
    );
  }
  return (
    <Section id="gates" title="Gates">
      <p>{failure === null ? 'All gates hold.' : `${failure}.`}</p>
      <Scrollable label="Gates">
        <table class="gates">
          <caption class="unseen">Gates and what was measured</caption>
          <thead>
            <tr>
              <th scope="col">Result</th>
              <th scope="col">Arm</th>
              <th scope="col">Required and measured</th>
            </tr>
          </thead>
          <tbody>
            {gates.map(({ passed, arm, line }) => (
              <tr key={`${arm} ${line}`}>
                <td>
                  <span class={`badge ${passed ? 'good' : 'bad'}`}>{passed ? '✓ passed' : '✗ failed'}</span>
                </td>
                <td>{arm}</td>
                <td>{line}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </Section>
  );
}

/** How the report was made: all that is needed to make it again. */
export function Making({ data: { header, arms } }: { data: PageData }) {
  const { collection } = header;
  const facts: [string, string][] = [
    ['Program', `${header.program} ${header.version}`],
    ['Finished', `${header.date.slice(0, 16).replace('T', ' ')} UTC`],
    ['Took', duration(header.durationMs)],
    ['Cases', `${header.cases}, from ${header.casesFile}`],
    ['Hash of the cases', header.casesHash],
    ['Repeats', String(header.repeat)],
    ['Questions at a time', String(header.concurrency)],
    ['Models', joined(header.models)],
    ['Collection', `${collection.name}: ${collection.documents} documents, ${collection.chunks} chunks`],
    ['Embedder', collection.embedder || 'none'],
    ['Seed of the statistics', String(header.seed)],
    ['Currency', header.currency ?? 'none: no price file'],
    ['Judge', header.judge ?? 'none'],
  ];
  return (
    <Section id="making" title="How it was made">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Scrollable label="Settings by arm">
        <table class={byArm(arms, 'settings')}>
          <caption>
            Settings by arm. <span class="key">● sets the arms apart</span>
          </caption>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              {arms.map(({ name }, index) => (
                <th key={name} scope="col">
                  <ArmName arm={index} name={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {SETTINGS.map(([key, label]) => (
              <tr key={key}>
                <th scope="row">{label}</th>
                {arms.map(({ name, settings, changed }) => (
                  <td key={name} class={Object.hasOwn(changed, key) ? 'changed' : ''}>
                    {Object.hasOwn(changed, key) && (
                      <>
                        <span aria-hidden="true">● </span>
                        <span class="unseen">sets it apart: </span>
                      </>
                    )}
                    {settingText(settings[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </Section>
  );
}

function settingText(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value);
}

function duration(ms: number): string {
  if (ms < 60_000) return formatValue(ms, 'ms');
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}
