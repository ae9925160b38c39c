import type { Code, Root } from 'mdast';
import { decodeText } from './decode-text.ts';
import { mediaTypeOfPath } from './media-type.ts';

/** The included files of a document by their path as it is written there. */
export type IncludedFiles = Readonly<Record<string, Uint8Array>>;

/** Alone on a line: forms of FastAPI, PyMdown Snippets, Jinja and MkDocs, and MyST. */
const INCLUDE = new RegExp(
  `^([ \\t]*)(?:${[
    /\{\*[ \t]+(?<braced>[^\s{}<>]+)(?<braces>[^\n{}<>]*)\*\}/,
    /-+8<-+[ \t]+(?<quote>["'])(?<quoted>[^"'\n<>:]+)(?::(?<section>[^"'\n<>]*))?\k<quote>/,
    /\{%-?\s*include(?:-markdown|_relative)?\s+["']?(?<tagged>[^\s"'%{}]+)["']?[^%{}]*%\}/,
    /(?<fence>`{3,}|:{3,})\{include\}[ \t]+(?<fenced>\S+)(?:\n[ \t]*:[a-z-]+:.*)*\n[ \t]*\k<fence>/,
  ]
    .map(({ source }) => source)
    .join('|')})[ \\t]*$`,
  'gm',
);
/** The path in `.. include:: a.rst` and `.. literalinclude:: a.py`. */
const RST_INCLUDE = /^[ \t]*\.\. (?:literal)?include::[ \t]+(\S+)[ \t]*$/gm;
/** In comments, includes start their own block even within a paragraph. */
const COMMENT = /^([ \t]*)<!--\ue0fe(.*)-->$/;
/** A document may repeat an include. */
const MAX_CHARACTERS = 4_000_000;

export function findIncludePaths(source: string): string[] {
  const written = Array.from(source.matchAll(INCLUDE), (match) => parseInclude(match).path);
  return [...new Set([...written, ...Array.from(source.matchAll(RST_INCLUDE), ([, path = '']) => path)])];
}

/** `lines` is a selection such as `3:5,9`, or the name of a section. */
function parseInclude(match: RegExpMatchArray | undefined): { path: string; lines: string } {
  const { braced, quoted, tagged, fenced, section, braces = '' } = match?.groups ?? {};
  const lines = section ?? /\bln\[([^\]]*)\]/.exec(braces)?.[1] ?? '';
  return { path: braced ?? quoted ?? tagged ?? fenced ?? '', lines };
}

/** Turns includes into comments that `createIncluder` expands. Keeps the number of lines. */
export function markIncludes(source: string): string {
  return source.replace(INCLUDE, (written, indent: string) => {
    const encoded = Buffer.from(written.trim()).toString('base64url');
    return `${indent}<!--\ue0fe${encoded}-->${'\n'.repeat(written.split('\n').length - 1)}`;
  });
}

/** Reads the lines of included files: none of a missing file, and up to a limit for all that a document includes. */
export function createIncludeReader(files: IncludedFiles) {
  let characters = 0;
  return (path: string, selection: string): string[] => {
    const isAvailable = characters <= MAX_CHARACTERS && Object.hasOwn(files, path);
    const bytes = isAvailable ? files[path] : undefined;
    const lines = bytes === undefined ? [] : selectLines(toText(bytes, path).split('\n'), selection);
    characters += lines.reduce((sum, line) => sum + line.length + 1, 0);
    return lines;
  };
}

/** Expands the includes of one document. Includes of included files, and files that are missing, are dropped. */
export function createIncluder(files: IncludedFiles, parse: (source: string) => Root) {
  const read = createIncludeReader(files);

  function readComment(comment: string): { written: string; path: string; lines: string[] } {
    const written = Buffer.from(COMMENT.exec(comment)?.[2] ?? '', 'base64url').toString();
    const [match] = written.matchAll(INCLUDE);
    const { path, lines } = parseInclude(match);
    return { written, path, lines: read(path, lines) };
  }

  return {
    isInclude: (html: string) => COMMENT.test(html),
    /** Source code becomes a code block; other text is parsed as Markdown. */
    toNodes(html: string): Root['children'] {
      const { path, lines } = readComment(html);
      const value = lines.join('\n');
      if (value.trim() === '') return [];
      if (mediaTypeOfPath(path) !== 'code') return parse(value.replace(INCLUDE, '')).children;
      return [{ type: 'code', lang: path.replace(/^.*\./, ''), value }];
    },
    /** The code of a template may show a tag that includes nothing here. */
    expandCode(node: Code): void {
      if (!node.value.includes('<!--\ue0fe')) return;
      const expanded = node.value.split('\n').flatMap((line) => {
        const [whole, indent = ''] = COMMENT.exec(line) ?? [];
        if (whole === undefined) return [line];
        const { written, path, lines } = readComment(line);
        const isShown = /^(?:\{%|[`:])/.test(written) && !Object.hasOwn(files, path);
        return (isShown ? [written] : lines).map((included) => indent + included);
      });
      node.value = expanded.join('\n');
    },
  };
}

/** Empty for a file that is not text. */
function toText(bytes: Uint8Array, path: string): string {
  try {
    return decodeText(bytes, path).trimEnd();
  } catch {
    return '';
  }
}

/** Selects `3:5,9` or a section between `[start:name]` and `[end:name]`; all lines without a selection. */
function selectLines(lines: string[], selection: string): string[] {
  const isMarker = (line: string) => /-+8<-+[ \t]+\[(?:start|end):/.test(line);
  if (/[a-z]/i.test(selection)) {
    const from = lines.findIndex((line) => line.includes(`[start:${selection}]`));
    const to = lines.findIndex((line, index) => index > from && line.includes(`[end:${selection}]`));
    const section = from < 0 ? [] : lines.slice(from + 1, to < 0 ? undefined : to);
    return section.filter((line) => !isMarker(line));
  }
  const ranges = selection.split(',').slice(0, 100);
  return ranges
    .flatMap((range) => {
      const [from = '', to = range.includes(':') ? '' : from] = range.split(':');
      return lines.slice(Math.max(0, Number(from) - 1) || 0, Number(to) || undefined);
    })
    .filter((line) => !isMarker(line));
}
