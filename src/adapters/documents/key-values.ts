import { isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { ParsedDocument } from '../../domain/document.ts';
import { lineRange } from '../../domain/location.ts';
import { createBlockWriter } from './block-writer.ts';

/** A value with the path of its keys: `server.ports[0]`. */
interface KeyValue {
  path: string;
  value: string;
  /** The comment before it. */
  comment: string;
  line: number;
}

/** YAML or JSON: every value with the path of its keys, in a section per key of the top level. */
export function parseYaml(source: string): ParsedDocument {
  const lines = new LineCounter();
  // The failsafe schema keeps every scalar as it is written.
  const documents = parseAllDocuments(source, {
    schema: 'failsafe',
    lineCounter: lines,
    logLevel: 'error',
    uniqueKeys: false,
  });
  let values: KeyValue[] = [];
  const shown: KeyValue[] = [];
  const visitValue = (node: unknown, path: string, comment: string): void => {
    const own = joinComments(comment, (node as Node | null)?.commentBefore);
    if (isMap(node)) {
      for (const [index, { key, value }] of node.items.entries()) {
        const name = isScalar(key) ? String(key.value) : '';
        const before = joinComments(index === 0 ? own : '', (key as Node | null)?.commentBefore);
        visitValue(value, path === '' ? name : `${path}.${name}`, before);
      }
    } else if (isSeq(node) && !node.items.every(isScalar)) {
      for (const [index, item] of node.items.entries())
        visitValue(isPair(item) ? item.value : item, `${path}[${index}]`, '');
    } else if (isScalar(node) || isSeq(node)) {
      const items = isSeq(node) ? node.items.map((item) => (isScalar(item) ? String(item.value) : '')) : [];
      const value = isScalar(node) ? String(node.value) : items.join(', ');
      values.push({ path, value, comment: own, line: lines.linePos(node.range?.[0] ?? 0).line });
    }
  };
  for (const { contents, errors } of documents) {
    if (errors[0] !== undefined) throw errors[0];
    values = [];
    visitValue(contents, '', '');
    for (const value of condenseSchema(values)) shown.push(value);
  }
  return toKeyValueDocument(shown);
}

const MIN_SCHEMA_VALUES = 200;

/**
 * Of the definition of a Kubernetes resource, or a large schema of OpenAPI or JSON Schema, only the different descriptions
 * with the paths of the data that they describe.
 */
function condenseSchema(values: readonly KeyValue[]): readonly KeyValue[] {
  const text = values.map(({ path, value }) => `${path}: ${value}`).join('\n');
  const isApi = /^(?:openapi|swagger|\$schema: .*json-schema\.org)\b/m.test(text);
  const isLarge = isApi && values.length > MIN_SCHEMA_VALUES;
  if (!isLarge && !/^(?:\S+\.)?openAPIV3Schema\./m.test(text)) return values;
  const kind = values.find(({ path }) => path === 'spec.names.kind')?.value;
  const described = values.filter(({ path }) =>
    /(?<!\bproperties)\.(?:description|title|summary)$/.test(path),
  );
  const different = new Map(described.toReversed().map((each) => [each.value, each]));
  return [...different.values()].toReversed().map((each) => {
    const data = each.path.replace(/^.*\bopenAPIV3Schema\.|\bproperties\.|\.items(?=\.)|\.?\w+$/g, '');
    return { ...each, path: [kind, data].filter(Boolean).join('.') };
  });
}

function joinComments(...comments: (string | null | undefined)[]): string {
  return comments.flatMap((comment) => comment?.trim() || []).join(' ');
}

const SECTION = /^\s*\[\[?([^\]]+)\]\]?\s*(?:[#;].*)?$/;
const ASSIGNMENT = /^\s*([^=:#;[\]]+?)\s*[=:]\s*(.*)$/;

/** TOML, INI and similar files: every value with its section and key. */
export function parseIni(source: string): ParsedDocument {
  const values: KeyValue[] = [];
  let section = '';
  let comment = '';
  for (const [index, line] of source.split('\n').entries()) {
    const last = values.at(-1);
    const [, key = '', value = ''] = ASSIGNMENT.exec(line) ?? [];
    const header = SECTION.exec(line)?.[1];
    if (line.trim() === '') {
      comment = '';
    } else if (/^\s*[#;]/.test(line)) {
      comment = `${comment} ${line.replace(/^\s*[#;]+/, '').trim()}`.trim();
    } else if (last !== undefined && (isOpen(last.value) || (/^\s/.test(line) && key === ''))) {
      last.value += ` ${line.trim()}`;
    } else if (header !== undefined) {
      section = header.trim();
    } else {
      const path = key === '' ? line.trim() : unquote(key);
      values.push({ path: section === '' ? path : `${section}.${path}`, value, comment, line: index + 1 });
      comment = '';
    }
  }
  return toKeyValueDocument(values.map((each) => ({ ...each, value: unquote(each.value) })));
}

/** Whether a value of TOML continues on the next line: an unclosed array or a string in three quotes. */
function isOpen(value: string): boolean {
  const quotes = /^("""|''')/.exec(value)?.[1];
  if (quotes !== undefined) return !value.slice(3).includes(quotes);
  return value.startsWith('[') && value.split('[').length > value.split(']').length;
}

function unquote(value: string): string {
  return value
    .trim()
    .replace(/^("""|'''|["'])(.*)\1$/s, '$2')
    .trim();
}

function toKeyValueDocument(values: readonly KeyValue[]): ParsedDocument {
  const writer = createBlockWriter();
  let section = '';
  let list = {};
  for (const { path, value, comment, line } of values) {
    const key = /^[^.[]*/.exec(path)?.[0] ?? '';
    const location = lineRange(line, line);
    // Single values at the top need no heading; below another section they do.
    const isSection = key !== section && (section !== '' || key !== path);
    if (isSection) {
      writer.write('heading', 2, key, { location });
      list = {};
      section = key;
    }
    const text = [path, value.replace(/\s+/g, ' ').trim()].filter((part) => part !== '').join(': ');
    writer.write('item', 1, `- ${text}${comment === '' ? '' : ` (${comment.replace(/\s+/g, ' ')})`}`, {
      list,
      location,
    });
  }
  return { title: null, metadata: {}, ...writer.finish() };
}
