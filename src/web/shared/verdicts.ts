import type { Verdict } from '../../domain/citation.ts';

/** How a verdict looks: never by its colour alone. */
export const verdicts: Record<Verdict, { sign: string; word: string; meaning: string }> = {
  quoted: { sign: '✓', word: 'quoted', meaning: 'The sentence stands in the passage word for word.' },
  supported: { sign: '✓', word: 'supported', meaning: 'The passage bears the sentence out.' },
  weak: { sign: '≈', word: 'weak', meaning: 'The passage may bear out the sentence, or only a part of it.' },
  unsupported: { sign: '✗', word: 'unsupported', meaning: 'The passage does not say what the answer says.' },
  unknown_source: { sign: '⊘', word: 'unknown source', meaning: 'Nothing that was retrieved has this name.' },
};

export function isBorneOut(verdict: Verdict | null): boolean {
  return verdict === 'quoted' || verdict === 'supported';
}
