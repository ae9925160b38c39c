import { sourceOf } from '../../scripts/fit/support-examples.ts';
import { supportFold } from '../../scripts/fit/support-fit.ts';
import type { SupportRow } from '../../scripts/fit/support-sets.ts';
import type { SentenceVerdict } from '../../src/domain/checked-sentence.ts';
import { isPassedCitation } from '../../src/domain/citation.ts';
import { alignWords } from '../../src/judge/align-words.ts';
import { type ClaimSupport, judgeClaim } from '../../src/judge/answer-judge.ts';
import { checkClaimByWords } from '../../src/judge/claim-verdict.ts';
import { findNames } from '../../src/judge/facts/claim-facts.ts';
import type { JudgedPassage } from '../../src/judge/facts/evidence.ts';
import { verifyFacts } from '../../src/judge/facts/verify-facts.ts';
import type { FittedNetwork } from '../../src/judge/network.ts';
import { type TextVectors, toTextVectors } from '../../src/judge/text-vectors.ts';
import type { TokenEncoder } from '../../src/ports/token-encoder.ts';
import { createMutations, hasUnit, type Mutation } from './mutations.ts';
import { alignColumns } from './results.ts';

const MUTATED = 600;

/**
 * Changes supported sentences so that they are no longer supported, and counts how many the judge rejects. Each sentence
 * is judged with the weights of a fold that was not trained on it.
 */
export async function measureMutations(
  rows: readonly SupportRow[],
  foldNetworks: ReadonlyMap<string, FittedNetwork>,
  encoder: TokenEncoder,
) {
  const supported = rows.filter(
    (row) => row.supported && row.set !== 'healthver_dev' && row.set !== 'wice_dev',
  );
  const step = Math.max(1, Math.floor(supported.length / MUTATED));
  const picked = supported.filter((_, index) => index % step === 0);
  // Few sentences have a unit, so all of them are used.
  const withUnits = supported.filter((row) => !picked.includes(row) && hasUnit(row.claim));
  const names = [...new Set(supported.slice(-400).flatMap(({ claim }) => findNames(claim)))].filter(
    (name) => name.length > 3,
  );
  const counts = new Map<
    string,
    Record<'total' | 'caught' | 'caughtByWords' | 'before' | 'caughtOfBefore', number>
  >();
  const count = (
    kind: Mutation['kind'] | 'unchanged',
    verdict: SentenceVerdict,
    byWords: SentenceVerdict,
    wasSupported: boolean,
  ) => {
    const one = counts.get(kind) ?? { total: 0, caught: 0, caughtByWords: 0, before: 0, caughtOfBefore: 0 };
    const isCaught = !isPassedCitation({ verdict });
    counts.set(kind, {
      total: one.total + 1,
      caught: one.caught + Number(isCaught),
      caughtByWords: one.caughtByWords + Number(!isPassedCitation({ verdict: byWords })),
      before: one.before + Number(wasSupported),
      caughtOfBefore: one.caughtOfBefore + Number(wasSupported && isCaught),
    });
  };
  let at = 0;
  for (const row of [...picked, ...withUnits]) {
    const isPicked = at < picked.length;
    const source = sourceOf(row.documents);
    const judgeRow = await createClaimJudge(row, encoder, foldNetworks.get(supportFold(row)));
    const judge = async (claim: string) => (await judgeRow(claim)).verdict;
    at += 1;
    const other = names.slice((at * 7) % names.length).concat(names);
    const before = await judge(row.claim);
    if (isPicked) count('unchanged', before, checkClaimByWords(row.claim, source).verdict, true);
    for (const { kind, text } of createMutations(row.claim, source.text, other)) {
      if (!isPicked && kind !== 'unit') continue;
      count(
        kind,
        await judge(text),
        checkClaimByWords(text, source).verdict,
        isPassedCitation({ verdict: before }),
      );
    }
  }
  const share = (part: number, total: number) => (part / total).toFixed(3);
  const lines = Array.from(counts, ([kind, one]) => [
    kind,
    String(one.total),
    share(one.caught, one.total),
    share(one.caughtByWords, one.total),
    String(one.before),
    share(one.caughtOfBefore, one.before),
  ]);
  console.log(
    `\n${picked.length} changed sentences, and ${withUnits.length} more with a unit\n${alignColumns(
      [
        ['change', 'sentences', 'rejected', 'rejected by words', 'supported before', 'rejected of these'],
        ...lines,
      ],
      [1, 2, 3, 4, 5],
    )}`,
  );
  return Object.fromEntries(counts);
}

/** Consecutive rows often have the same documents. */
let last: { source: JudgedPassage | null; read: TextVectors[] } = { source: null, read: [] };

/** Encodes the documents of a row once and returns a function that judges claims against them. */
export async function createClaimJudge(
  { documents }: SupportRow,
  encoder: TokenEncoder,
  network: FittedNetwork | undefined,
): Promise<(claim: string) => Promise<ClaimSupport>> {
  const passages = documents.map((text) => ({ text, title: '', headings: [] }));
  const source = sourceOf(documents);
  if (source !== last.source) {
    const read = (await encoder.encodeTokens(documents)).map((encoded, index) =>
      toTextVectors(documents[index] ?? '', encoded, encoder.dimensions),
    );
    last = { source, read };
  }
  const { read } = last;
  return async (claim) => {
    const [encoded] = await encoder.encodeTokens([claim]);
    if (encoded === undefined) throw new Error('The encoder returned nothing.');
    const alignment = alignWords(toTextVectors(claim, encoded, encoder.dimensions), read);
    return judgeClaim(alignment, verifyFacts(claim, source), passages, network);
  };
}
