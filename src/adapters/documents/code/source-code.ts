import { basename } from 'node:path';
import type { ParsedDocument } from '../../../domain/document.ts';
import { lines as linesAt } from '../../../domain/location.ts';
import { AppError } from '../../../faults/app-error.ts';
import { createBlockWriter } from '../block-writer.ts';
import { type Definition, findDefinitions } from './find-definitions.ts';
import { languageOf } from './languages.ts';

/** Past this many characters a file is read by lines alone; it was hardly written by hand. */
const LONGEST_PARSED = 1_000_000;

/** Lines of this length on average are for machines. */
const LONGEST_LINE = 500;

/** A type that is no longer than this stays whole, with its methods. */
const SHORT_TYPE = 1_000;

/**
 * Source code, cut where its functions and types begin: each under its name, with the comments before it. What
 * stands between them comes first, so that no line seems to belong to the function above it.
 */
export async function parseSourceCode(source: string, name: string): Promise<ParsedDocument> {
  const language = languageOf(name);
  const rows = source.split('\n');
  if (source.length > LONGEST_LINE * rows.length && source.length > 10 * LONGEST_LINE) {
    throw new AppError('invalid_input', `${name} looks like code for machines, minified or generated`, {
      hint: 'Leave it out.',
    });
  }
  const writer = createBlockWriter();
  const isParsed = language !== null && source.length <= LONGEST_PARSED;
  const whole = { from: 0, to: rows.length - 1 };
  const definitions = isParsed ? await findDefinitions(source, language) : [];
  write(whole, definitions, 2);
  return { title: basename(name), metadata: {}, ...writer.finish() };

  function write(
    { from, to }: { from: number; to: number },
    members: readonly Definition[],
    depth: number,
  ): void {
    let start = from;
    for (const member of members) {
      writeRows(start, member.from - 1);
      start = member.to + 1;
    }
    writeRows(start, to);
    for (const member of members) {
      writer.write('heading', Math.min(depth, 6), member.name, {
        location: linesAt(member.from + 1, member.from + 1),
      });
      const isShort = rows.slice(member.from, member.to + 1).join('\n').length <= SHORT_TYPE;
      write(member, isShort ? [] : member.members, depth + 1);
    }
  }

  /** Writes rows as code, without the indentation that all of them share; brackets alone say nothing. */
  function writeRows(from: number, to: number): void {
    let [first, last] = [from, to];
    while (first <= last && rows[first]?.trim() === '') first += 1;
    while (first <= last && rows[last]?.trim() === '') last -= 1;
    const block = rows.slice(first, last + 1);
    if (!block.some((row) => /[\p{L}\p{N}]/u.test(row))) return;
    const code = withoutIndent(block).join('\n');
    const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
    const fence = '`'.repeat(longest + 1);
    writer.write('code', 0, `${fence}${language?.grammar ?? ''}\n${code}\n${fence}`, {
      location: linesAt(first + 1, last + 1),
    });
  }
}

function withoutIndent(rows: readonly string[]): string[] {
  const indents = rows.filter((row) => row.trim() !== '').map((row) => /^[ \t]*/.exec(row)?.[0] ?? '');
  const shared = indents.reduce((common, indent) => {
    let length = 0;
    while (length < common.length && common[length] === indent[length]) length += 1;
    return common.slice(0, length);
  });
  return rows.map((row) => row.slice(shared.length).trimEnd());
}
