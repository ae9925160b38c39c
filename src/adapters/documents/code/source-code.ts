import { basename } from 'node:path';
import type { ParsedDocument } from '../../../domain/document.ts';
import { lineRange as linesAt } from '../../../domain/location.ts';
import { createBlockWriter } from '../block-writer.ts';
import { formatCodeBlock } from '../render-tree.ts';
import { dedentLines } from '../rst/blocks.ts';
import { type CodeDefinition, findCodeDefinitions, type LoadedGrammars } from './find-definitions.ts';
import { codeLanguageOfPath } from './languages.ts';

/** Longer files are not parsed, because they are hardly written by hand. */
const MAX_PARSED_LENGTH = 1_000_000;

/** Files with longer lines on average are minified or generated, and have nothing to read. */
const MAX_AVERAGE_LINE = 500;

/** Shorter types are not split into their methods. */
const MIN_SPLIT_LENGTH = 1_000;

/**
 * Source code with a section for each function and type. The code between them comes first, so that it does not seem to
 * belong to the function above it.
 */
export async function parseSourceCode(
  source: string,
  name: string,
  grammars: LoadedGrammars,
): Promise<ParsedDocument> {
  const language = codeLanguageOfPath(name);
  const rows = source.split('\n');
  if (source.length > MAX_AVERAGE_LINE * rows.length && source.length > 10 * MAX_AVERAGE_LINE) {
    return { title: null, metadata: {}, text: '', blocks: [] };
  }
  const writer = createBlockWriter();
  const isParsed = language !== null && source.length <= MAX_PARSED_LENGTH;
  const whole = { from: 0, to: rows.length - 1 };
  const definitions = isParsed ? await findCodeDefinitions(source, language, grammars) : [];
  write(whole, definitions, 2);
  return { title: basename(name), metadata: {}, ...writer.finish() };

  function write(
    { from, to }: { from: number; to: number },
    members: readonly CodeDefinition[],
    depth: number,
  ): void {
    let start = from;
    for (const member of members) {
      writeCode(start, member.from - 1);
      start = member.to + 1;
    }
    writeCode(start, to);
    for (const member of members) {
      writer.write('heading', Math.min(depth, 6), member.name, {
        location: linesAt(member.from + 1, member.from + 1),
      });
      const isShort = rows.slice(member.from, member.to + 1).join('\n').length <= MIN_SPLIT_LENGTH;
      write(member, isShort ? [] : member.members, depth + 1);
    }
  }

  /** Writes rows as a code block without their common indentation; rows of brackets only are dropped. */
  function writeCode(from: number, to: number): void {
    let [first, last] = [from, to];
    while (first <= last && rows[first]?.trim() === '') first += 1;
    while (first <= last && rows[last]?.trim() === '') last -= 1;
    const block = rows.slice(first, last + 1);
    if (!block.some((row) => /[\p{L}\p{N}]/u.test(row))) return;
    const code = dedentLines(block).join('\n');
    writer.write('code', 0, formatCodeBlock(code, language?.grammar ?? ''), {
      location: linesAt(first + 1, last + 1),
    });
  }
}
