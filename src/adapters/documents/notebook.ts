import type { RootContent } from 'mdast';
import * as z from 'zod';
import type { ParsedDocument } from '../../domain/document.ts';
import { parseMarkdownTree } from './markdown.ts';
import { toParsedDocument } from './render-tree.ts';

/** Longer output of a cell is cut. */
const MAX_OUTPUT_LENGTH = 4_000;

/** A string or a list of lines. */
const textSchema = z
  .union([z.string(), z.array(z.string())])
  .transform((text) => (typeof text === 'string' ? text : text.join('')));

const outputSchema = z.object({
  text: textSchema.optional(),
  data: z.object({ 'text/plain': textSchema.optional() }).optional(),
  ename: z.string().optional(),
  evalue: z.string().optional(),
});

const cellSchema = z.object({
  cell_type: z.string(),
  source: textSchema.optional(),
  outputs: z.array(outputSchema).optional(),
});

const notebookSchema = z.object({
  metadata: z
    .object({
      title: z.string().optional(),
      kernelspec: z.object({ language: z.string().optional() }).optional(),
      language_info: z.object({ name: z.string().optional() }).optional(),
    })
    .optional(),
  cells: z.array(cellSchema),
});

/** A Jupyter notebook: text, code and printed output. Cells are numbered from 1. */
export async function parseNotebook(source: string): Promise<ParsedDocument> {
  const notebook = notebookSchema.safeParse(JSON.parse(source)).data;
  if (notebook === undefined) throw new Error('its cells are invalid');
  const { language_info: info, kernelspec, title } = notebook.metadata ?? {};
  const language = info?.name ?? kernelspec?.language ?? 'python';
  const content: RootContent[] = [];
  for (const [index, cell] of notebook.cells.entries()) {
    const location = { unit: 'cell', from: index + 1, to: index + 1 } as const;
    for (const node of await cellContent(cell, language)) {
      node.data = { ...node.data, location };
      content.push(node);
    }
  }
  return toParsedDocument({ type: 'root', children: content }, title === undefined ? {} : { title });
}

async function cellContent(cell: z.infer<typeof cellSchema>, language: string): Promise<RootContent[]> {
  const text = cell.source ?? '';
  switch (cell.cell_type) {
    case 'markdown':
      return (await parseMarkdownTree(text)).children;
    case 'code': {
      const printed = (cell.outputs ?? []).map(outputText).join('').trimEnd();
      const code: RootContent = { type: 'code', lang: language, value: text.trimEnd() };
      return printed.trim() === '' ? [code] : [code, ...outputContent(printed)];
    }
    default:
      return [{ type: 'paragraph', children: [{ type: 'text', value: text }] }];
  }
}

function outputText({ text, data, ename, evalue }: z.infer<typeof outputSchema>): string {
  const printed = text ?? data?.['text/plain'] ?? (ename === undefined ? '' : `${ename}: ${evalue ?? ''}`);
  return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`;
}

function outputContent(printed: string): RootContent[] {
  const end = printed.lastIndexOf('\n', MAX_OUTPUT_LENGTH);
  const value =
    printed.length > MAX_OUTPUT_LENGTH
      ? `${printed.slice(0, end < 0 ? MAX_OUTPUT_LENGTH : end)}\n…`
      : printed;
  return [
    { type: 'paragraph', children: [{ type: 'text', value: 'Output:' }] },
    { type: 'code', lang: null, value },
  ];
}
