import type { ComponentChildren } from 'preact';
import type { Verdict } from '../../domain/citation.ts';
import { verdicts } from './verdicts.ts';

/** What the check said of a citation, by sign and word. */
export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const { sign, word, meaning } = verdicts[verdict];
  return (
    <span class={`badge ${verdict}`} title={meaning}>
      {sign} {word}
    </span>
  );
}

interface AddressProps {
  url: string;
  /** How it reads; the address itself unless told. */
  children?: ComponentChildren;
}

/** Only an address of the web becomes a link, and it tells nobody where it was clicked. */
export function Address({ url, children = url }: AddressProps) {
  if (!/^https?:\/\//i.test(url)) return <span class="address">{children}</span>;
  return (
    <a class="address" href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
