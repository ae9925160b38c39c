import { serviceOf } from '../../app/own-services.ts';
import { configuredSecrets } from '../../app/run-settings.ts';
import { loadConfig } from '../../config/load-config.ts';
import { pricesBy, readPrices } from '../../evaluation/run/prices.ts';
import { AppError } from '../../faults/app-error.ts';
import { EXIT_DONE, exitCodeOf } from '../../faults/exit-code.ts';
import { createRedactor } from '../../faults/redactor.ts';
import type { ChangeKind } from '../../tape/drift/answer-changes.ts';
import { askAgain } from '../../tape/drift/ask-again.ts';
import { diffTapes } from '../../tape/drift/diff-tapes.ts';
import { openTape, type Tape } from '../../tape/open-tape.ts';
import { readJsonFile } from '../evaluation/evaluation-files.ts';
import type { CommonFlags } from '../flags/common-flags.ts';
import { renderAsked, renderSample, renderTapeDifference } from '../terminal/drift-views.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { interruptible } from './with-app.ts';

export interface TapeDiffFlags extends CommonFlags {
  before?: string | undefined;
  after?: string | undefined;
}

export interface TapeRenewFlags extends CommonFlags {
  tapes?: string[] | undefined;
  sample?: number | undefined;
  budget?: number | undefined;
  prices?: string | undefined;
  allow?: ChangeKind[] | undefined;
}

const DRIFT = exitCodeOf(new AppError('replay_drift', ''));
const DEFAULT_SAMPLE = 10;

/** Exit code 7 if they differ in more than ids and times. */
export function diffTwoTapes({ before = '', after = '', json }: TapeDiffFlags): number {
  return withTapes([before, after], ([one, other]) => {
    const difference = diffTapes(one as Tape, other as Tape);
    if (json) process.stdout.write(`${JSON.stringify({ before, after, ...difference })}\n`);
    else renderTapeDifference(createTerminal(process.stdout), { before, after, ...difference });
    return difference.same ? EXIT_DONE : DRIFT;
  });
}

/** Exit code 7 if a service answers otherwise than on the tapes, but for what is allowed to. */
export function renewTapes(flags: TapeRenewFlags): Promise<number> {
  const { tapes: paths = [], sample = DEFAULT_SAMPLE, budget = null, allow = [], json } = flags;
  assertSample(sample, budget, flags.prices);
  const config = loadConfig({ flags: { ...flags }, configPath: flags.config });
  const redactor = createRedactor({ secrets: configuredSecrets(config) });
  return interruptible(async (signal) => {
    const prices =
      flags.prices === undefined
        ? null
        : readPrices(await readJsonFile(flags.prices, 'The price file'), flags.prices);
    const priceOf = prices === null ? null : pricesBy(prices);
    const terminal = createTerminal(process.stdout);
    return withTapes(paths, async (tapes) => {
      const result = redactor.value(
        await askAgain({
          tapes,
          sample,
          budget,
          priceOf: (model, { input, output }) =>
            priceOf?.(model, { prompt: input, completion: output, total: input + output }) ?? null,
          serviceOf: (url) => serviceOf(url, config),
          fetch: globalThis.fetch,
          signal,
          onAsked: (asked) => (json ? undefined : renderAsked(terminal, redactor.value(asked))),
        }),
      );
      const drifted = result.asked.filter(({ changes }) => changes.some(({ kind }) => !allow.includes(kind)));
      const ok = drifted.length === 0;
      if (json)
        process.stdout.write(
          `${JSON.stringify({ ok, allow, currency: prices?.currency ?? null, ...result })}\n`,
        );
      else renderSample(terminal, { ...result, drifted: drifted.length, currency: prices?.currency ?? null });
      return ok ? EXIT_DONE : DRIFT;
    });
  }, 'No tape was changed.');
}

function assertSample(sample: number, budget: number | null, prices: string | undefined): void {
  if (!Number.isInteger(sample) || sample < 1)
    throw new AppError('invalid_input', `--sample must be a whole number from 1 on, not ${sample}.`);
  if (budget === null) return;
  if (!(budget > 0)) throw new AppError('invalid_input', `--budget must be more than 0, not ${budget}.`);
  if (prices === undefined) {
    throw new AppError('invalid_input', 'A budget can be kept only where prices are known.', {
      hint: 'Name a file of prices with --prices; docs/evaluation.md says what it holds.',
    });
  }
}

function withTapes<T>(paths: readonly string[], work: (tapes: Tape[]) => T): T {
  const tapes: Tape[] = [];
  const close = () => {
    for (const tape of tapes) tape.close();
  };
  try {
    for (const path of paths) tapes.push(openTape(path));
    const result = work(tapes);
    if (result instanceof Promise) return result.finally(close) as T;
    close();
    return result;
  } catch (error) {
    close();
    throw error;
  }
}
