import { withLead } from '../admonition.ts';
import { readDirective } from './directives.ts';
import { footnoteMarker } from './inline.ts';
import { type Reader, takeIndented } from './reader.ts';

/** Everything that begins with two dots: directives, footnotes, targets, substitutions and comments. */
export const readExplicitMarkup: Reader = (lines, index, context) => {
  const line = lines[index] ?? '';
  if (/^__(\s|$)/.test(line)) return { nodes: [], next: index + 1 };
  if (!/^\.\.(\s|$)/.test(line)) return null;
  const { block, next } = takeIndented(lines, index + 1);
  const rest = line.slice(2).trim();

  const [, name, argument = ''] = /^([\w][\w.+:-]*?) ?::(?:\s+(.*))?$/.exec(rest) ?? [];
  if (name !== undefined) return { nodes: readDirective(name, argument, block, context), next };

  const [, label, text = ''] = /^\[([^\]\s]+)\](?:\s+(.*))?$/.exec(rest) ?? [];
  if (label !== undefined)
    return { nodes: withLead(`${footnoteMarker(label)}: `, context.body([text, ...block])), next };

  // Targets and substitutions have been collected before; anything else is a comment.
  return { nodes: [], next };
};
