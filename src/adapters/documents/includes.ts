import type { Code, Root } from 'mdast';
import { decodeText } from './decode-text.ts';
import { mediaTypeOfPath } from './media-type.ts';

/** The included files of a document by their path as it is written there. */
export type IncludedFiles = Readonly<Record<string, Uint8Array>>;

/** `{* app.py ln[1:5] hl[3] *}` (FastAPI) or `--8<-- "app.py:1:5"` (PyMdown Snippets), alone on a line. */
const INCLUDE =
  /^([ \t]*)(?:\{\*[ \t]+([^\s{}<>]+)([^\n{}<>]*)\*\}|-+8<-+[ \t]+(["'])([^"'\n<>:]+)(?::([^"'\n<>]*))?\4)[ \t]*$/gm;
/** In comments, includes start their own block even within a paragraph. */
const COMMENT = /^([ \t]*)<!--\ue0fe(.*)-->$/;
/** A document may repeat an include. */
const MAX_CHARACTERS = 4_000_000;

export function findIncludePaths(source: string): string[] {
  return [...new Set(Array.from(source.matchAll(INCLUDE), ([, , path, , , quoted]) => path ?? quoted ?? ''))];
}

/** Turns includes into comments that `createIncluder` expands. Keeps the number of lines. */
export function markIncludes(source: string): string {
  return source.replace(INCLUDE, (line, indent: string) => `${indent}<!--\ue0fe${line.trim()}-->`);
}

/** Expands the includes of one document. Includes of included files, and files that are missing, are dropped. */
export function createIncluder(files: IncludedFiles, parse: (source: string) => Root) {
  let characters = 0;

  function readLines(comment: string): { path: string; lines: string[] } {
    const [match] = (COMMENT.exec(comment)?.[2] ?? '').matchAll(INCLUDE);
    const path = match?.[2] ?? match?.[5] ?? '';
    const selection = match?.[6] ?? /\bln\[([^\]]*)\]/.exec(match?.[3] ?? '')?.[1] ?? '';
    const isAvailable = characters <= MAX_CHARACTERS && Object.hasOwn(files, path);
    const bytes = isAvailable ? files[path] : undefined;
    const lines = bytes === undefined ? [] : selectLines(toText(bytes, path).split('\n'), selection);
    characters += lines.reduce((sum, line) => sum + line.length + 1, 0);
    return { path, lines };
  }

  return {
    isInclude: (html: string) => COMMENT.test(html),
    /** Source code becomes a code block; other text is parsed as Markdown. */
    toNodes(html: string): Root['children'] {
      const { path, lines } = readLines(html);
      const value = lines.join('\n');
      if (value.trim() === '') return [];
      if (mediaTypeOfPath(path) !== 'code') return parse(value.replace(INCLUDE, '')).children;
      return [{ type: 'code', lang: path.replace(/^.*\./, ''), value }];
    },
    expandCode(node: Code): void {
      if (!node.value.includes('<!--\ue0fe')) return;
      const expanded = node.value.split('\n').flatMap((line) => {
        const [whole, indent = ''] = COMMENT.exec(line) ?? [];
        return whole === undefined ? [line] : readLines(line).lines.map((included) => indent + included);
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
