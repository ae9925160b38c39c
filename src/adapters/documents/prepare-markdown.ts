import { parse } from 'yaml';
import { isJsonObject } from '../../text/parse-json.ts';
import { indentWidth } from './rst/blocks.ts';

/** Starts with a key, so that text between two rules at the top is not read as front matter. */
const FRONT_MATTER =
  /^---[ \t]*\n((?:[ \t]*(?:#.*)?\n)*["']?\w[\w ./-]*["']?[ \t]*:(?:[ \t].*)?\n(?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)/;

/** Separates YAML front matter from the body. */
export function splitFrontMatter(source: string): {
  metadata: Record<string, string>;
  body: string;
  linesBefore: number;
} {
  const [whole = '', yaml = ''] = FRONT_MATTER.exec(source) ?? [];
  const linesBefore = whole.split('\n').length - 1;
  return { metadata: readFields(yaml), body: source.slice(whole.length), linesBefore };
}

/** The scalar fields of front matter as strings; lists of scalars are joined. Empty for invalid YAML. */
function readFields(yaml: string): Record<string, string> {
  const fields = Object.entries(parseYamlFields(yaml)).flatMap(([key, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.map(scalarText).filter(Boolean).join(', ') : scalarText(value);
    return text === '' ? [] : [[key, text]];
  });
  return Object.fromEntries(fields);
}

/** The failsafe schema keeps every scalar a string, so that version 1.10 does not become 1.1. */
function parseYamlFields(yaml: string): object {
  try {
    const parsed: unknown = parse(yaml, { schema: 'failsafe', logLevel: 'error' });
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && value !== 'null' && value !== '~' ? value.trim() : '';
}

/** Marks a label that `labelAdmonitions` added, so that it can be removed again. */
export const LABEL_MARK = '\ue0ff';

/**
 * Converts `:::note Title` (Docusaurus) and `::: tip Title` (VitePress) to `:::note[Title]`, the only form that the parser
 * supports. The label keeps the rest of the line unchanged, since the line may be inside code.
 */
export function labelAdmonitions(source: string): string {
  return source.replace(
    /^([ \t>]*:{3,})([ \t]*([a-z][\w-]*)(?:[ \t]+[^\s{[][^\n]*)?)[ \t]*$/gim,
    (line, colons: string, rest: string, name: string) =>
      rest === name ? line : `${colons}${name}[${LABEL_MARK}${rest}]`,
  );
}

/** Deeper nesting takes the parser minutes or overflows the stack. */
const MAX_NESTING = 100;

/** Throws a RangeError for too many lists or quotes on one line, or too many open admonitions. */
export function assertNestingLimit(source: string): void {
  const opened = new RegExp(
    `^[ \\t]*(?:(?:>|(?:[-+*]|\\d{1,9}[.)])[ \\t])[ \\t]*){${MAX_NESTING},}[^\\s>*+-]`,
    'm',
  );
  if (opened.test(source)) throw new RangeError(`A line opens more than ${MAX_NESTING} lists or quotes.`);

  let depth = 0;
  for (const [, name] of source.matchAll(/^[ \t>]*:{3,}[ \t]*([a-z].*)?$/gim)) {
    depth = name === undefined ? Math.max(0, depth - 1) : depth + 1;
    if (depth > MAX_NESTING) throw new RangeError(`More than ${MAX_NESTING} admonitions are open.`);
  }
}

const FENCE = /^\s*(`{3,}|~{3,})/;
/** `!!! note "Title"`, `???tip`, `=== "Tab"`; the content below is indented by four. */
const INDENTED_BLOCK =
  /^( *)(?:!!![ \t]*|\?\?\?\+?[ \t]*|===[!+]?[ \t]+)(?:([\w-]+)[\w -]*)?(?:"(.*)")?[ \t]*$/;
/** `/// note | Title`, closed by `///`. */
const SLASH_BLOCK = /^( *)\/{3,}[ \t]*(?:([\w-]+)(?:[ \t]*\|[ \t]*(.*?))?)?[ \t]*$/;
const INDENT = 4;

/**
 * Converts admonitions, tabs and blocks of MkDocs to plain Markdown with a title above the content, whose indentation
 * would otherwise make it code. Keeps the number of lines, so that locations stay correct.
 */
export function convertMkdocsBlocks(source: string): string {
  if (!/^ *(?:!!!|\?\?\?|===|\/\/\/)/m.test(source)) return source;
  const lines = source.split('\n');
  /** The indentation of the open blocks, innermost last. */
  const open: number[] = [];
  let fence: string | null = null;
  return lines
    .map((line, index) => {
      const isBlank = line.trim() === '';
      const indent = indentWidth(line);
      while (fence === null && !isBlank && open.length > 0 && indent < (open.at(-1) ?? 0) + INDENT)
        open.pop();
      const dedented = line.slice(Math.min(indent, INDENT * open.length));
      const ticks = FENCE.exec(dedented)?.[1] ?? null;
      if (fence !== null || ticks !== null) {
        const isClosing = fence !== null && ticks?.startsWith(fence) && dedented.trim() === ticks;
        fence = isClosing ? null : (fence ?? ticks);
        return dedented;
      }
      const [, , kind, title] = INDENTED_BLOCK.exec(line) ?? [];
      const hasContent = hasIndentedContent(lines, index);
      const isTitleOnly = kind !== undefined && title !== undefined && /^ *[!?]/.test(line);
      if ((kind ?? title) !== undefined && (hasContent || isTitleOnly)) {
        if (hasContent) open.push(indent);
        const isJoined = hasContent && lines[index + 1]?.trim() !== '';
        return `${formatTitle(dedented, kind, title)}${isJoined ? ':' : ''}`;
      }
      const block = SLASH_BLOCK.exec(dedented);
      if (block === null) return dedented;
      return block[2] === undefined ? '' : formatTitle(dedented, block[2], block[3]);
    })
    .join('\n');
}

function hasIndentedContent(lines: readonly string[], index: number): boolean {
  const next = lines.slice(index + 1).find((line) => line.trim() !== '');
  return next !== undefined && indentWidth(next) >= indentWidth(lines[index] ?? '') + INDENT;
}

function formatTitle(line: string, kind = '', title = ''): string {
  const text = title.trim() || kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${line.slice(0, indentWidth(line))}**${text}**`;
}

/** The parser takes quadratic time, so long documents are parsed in parts of about this length. */
const PART_LENGTH = 8_192;

/** Longer lists, paragraphs and tables are split too. */
const MAX_BLOCK_LENGTH = 32 * PART_LENGTH;

/** A part of a source with the number of lines before it; negative if definitions were inserted before it. */
interface MarkdownPart {
  text: string;
  linesBefore: number;
}

/**
 * Splits Markdown between blocks: before a line that follows a blank one and starts with neither white space nor a list
 * marker, outside of fences, raw HTML and directives. Parts get the link definitions of other parts that they use.
 */
export function splitMarkdown(source: string): MarkdownPart[] {
  if (source.length <= 2 * PART_LENGTH) return [{ text: source, linesBefore: 0 }];
  const parts: MarkdownPart[] = [];
  const scan = createBlockScanner();
  let start = 0;
  let offset = 0;
  let linesBefore = 0;
  let afterBlank = false;
  for (const [index, line] of source.split('\n').entries()) {
    const length = offset - start;
    const isBoundary = afterBlank && /^[^\s\-+*\d]/.test(line);
    if (!scan.isInside() && length >= (isBoundary ? PART_LENGTH : MAX_BLOCK_LENGTH)) {
      parts.push({ text: source.slice(start, offset), linesBefore });
      start = offset;
      linesBefore = index;
    }
    scan.next(line);
    afterBlank = line.trim() === '';
    offset += line.length + 1;
  }
  parts.push({ text: source.slice(start), linesBefore });
  return addLinkDefinitions(parts);
}

function createBlockScanner() {
  let closing: RegExp | null = null;
  let directives = 0;
  return {
    next(line: string): void {
      if (closing !== null) {
        if (closing.test(line)) closing = null;
        return;
      }
      const fence = /^[ \t>]*(?:(?:[-+*]|\d+[.)])[ \t]+)*(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(line);
      const run = fence?.[1] ?? fence?.[2];
      const html = /^ {0,3}<(script|pre|style|textarea|!--)/i.exec(line)?.[1];
      if (run !== undefined) {
        closing = new RegExp(`^[ \\t>]*${run}${run.charAt(0)}*[ \\t]*$`);
      } else if (html !== undefined) {
        const end = html === '!--' ? /-->/ : new RegExp(`</${html}>`, 'i');
        closing = end.test(line) ? null : end;
      } else if (/^[ \t>]*:{3,}[ \t]*[a-z]/i.test(line)) {
        directives += 1;
      } else if (/^[ \t>]*:{3,}[ \t]*$/.test(line)) {
        directives = Math.max(0, directives - 1);
      }
    },
    /** Whether a construct is open that blank lines do not end. */
    isInside: () => closing !== null || directives > 0,
  };
}

function addLinkDefinitions(parts: MarkdownPart[]): MarkdownPart[] {
  const definitions = new Map<string, string>();
  for (const part of parts) {
    for (const [line, label = ''] of part.text.matchAll(/^ {0,3}\[(?!\^)([^\]\n]+)\]:[ \t]*\S.*$/gm)) {
      const key = normalizeLabel(label);
      if (!definitions.has(key)) definitions.set(key, line.trim());
    }
  }
  if (definitions.size === 0) return parts;
  return parts.map((part) => {
    const used = new Set<string>();
    for (const [, label = ''] of part.text.matchAll(/\[([^[\]\n]+)\]/g)) {
      const definition = definitions.get(normalizeLabel(label));
      if (definition !== undefined) used.add(definition);
    }
    if (used.size === 0) return part;
    return {
      text: `${[...used].join('\n')}\n\n${part.text}`,
      linesBefore: part.linesBefore - used.size - 1,
    };
  });
}

function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase();
}
