import * as z from 'zod';
import { AppError } from '../../faults/app-error.ts';
import { oneLine } from '../../text/visible-text.ts';
import { faultOf, readJsonLines, refuseFaults } from '../cases/json-lines.ts';

/** What people say of a claim and its passages; all but the first mean that the passages do not bear it out. */
export const LABELS = ['supported', 'partly', 'unsupported', 'contradicted'] as const;

const text = z.string().trim().min(1, 'it is blank');

/** As a file holds it. Sets bring fields of their own, which are passed over. */
const labelSchema = z
  .object({
    id: z.union([text, z.number().transform(String)]).nullish(),
    question: z.string().nullish(),
    claim: text,
    documents: z.array(text).min(1, 'the list is empty').nullish(),
    /** Instead of a list of one. */
    passage: text.nullish(),
    label: z.enum(LABELS),
    /** The set it is from, or who said so; results are told by it too. */
    source: text.nullish(),
  })
  .refine(({ documents, passage }) => (documents ?? passage) != null, {
    error: 'a list of texts, or one text as passage, is needed',
    path: ['documents'],
  });

/** A claim that a person has held against passages. */
export interface Label {
  id: string;
  question: string | null;
  claim: string;
  documents: string[];
  label: (typeof LABELS)[number];
  source: string | null;
}

const FIELDS = `A label has claim, documents (a list of texts) or passage (one text), and label (${LABELS.join(', ')}); id, question and source may be there.`;

/** Reads labels, one JSON object a line. Throws `invalid_input` that names the line of every fault. */
export function readLabels(content: string, file: string): Label[] {
  const faults: string[] = [];
  const lines = new Map<string, number>();
  const labels = readJsonLines(content, faults).flatMap(({ value, line }): Label[] => {
    const result = labelSchema.safeParse(value);
    if (!result.success) {
      for (const issue of result.error.issues) faults.push(`line ${line}: ${faultOf(issue, value)}`);
      return [];
    }
    const { id: given, question, claim, documents, passage, label, source } = result.data;
    const id = given ?? `line-${line}`;
    const before = lines.get(id);
    if (before !== undefined)
      faults.push(`line ${line}: the id "${oneLine(id, 60)}" is taken by line ${before}`);
    lines.set(id, before ?? line);
    return [
      {
        id,
        question: question ?? null,
        claim,
        documents: documents ?? [passage ?? ''],
        label,
        source: source ?? null,
      },
    ];
  });
  refuseFaults(file, faults, FIELDS);
  if (labels.length > 0) return labels;
  throw new AppError('invalid_input', `${file} holds no labels.`, { hint: FIELDS });
}

/** Labels as a file holds them. */
export function writeLabels(labels: readonly Label[]): string {
  return labels.map((label) => `${JSON.stringify(label)}\n`).join('');
}
