import type { ComponentChildren } from 'preact';
import type { Verdict } from '../../domain/citation.ts';
import { VERDICT_LABELS } from './verdict-labels.ts';

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const { symbol, text, explanation } = VERDICT_LABELS[verdict];
  return (
    <span class={`badge ${verdict}`} title={explanation}>
      {symbol} {text}
    </span>
  );
}

interface SourceLinkProps {
  url: string;
  /** The link text; defaults to the URL. */
  children?: ComponentChildren;
}

/** Only http(s) URLs become links: other schemes could run code. */
export function SourceLink({ url, children = url }: SourceLinkProps) {
  if (!/^https?:\/\//i.test(url)) return <span class="address">{children}</span>;
  return (
    <a class="address" href={url} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
