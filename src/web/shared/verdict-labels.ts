import type { Verdict } from '../../domain/citation.ts';

interface VerdictLabel {
  /** A verdict is never shown by color alone. */
  symbol: string;
  text: string;
  explanation: string;
}

export const VERDICT_LABELS: Record<Verdict, VerdictLabel> = {
  quoted: { symbol: '✓', text: 'quoted', explanation: 'The passage contains this sentence word for word.' },
  supported: { symbol: '✓', text: 'supported', explanation: 'The passage resembles this sentence.' },
  unsupported: {
    symbol: '⚠',
    text: 'unsupported',
    explanation: 'The passage does not support this sentence.',
  },
  unknown_source: {
    symbol: '⊘',
    text: 'unknown source',
    explanation: 'No retrieved passage has this marker.',
  },
};

/** The verdict is null for a sentence without a citation. */
export function isSupportedVerdict(verdict: Verdict | null): boolean {
  return verdict === 'quoted' || verdict === 'supported';
}
