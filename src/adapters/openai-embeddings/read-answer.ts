import * as z from 'zod';
import { unusableAnswer } from '../hosted/post-json.ts';
import type { Service } from '../hosted/service.ts';

const rowSchema = z.array(z.number()).min(1);
export type EmbeddingRow = z.infer<typeof rowSchema>;

/** Not every server numbers its rows; those that do may send them in any order. */
const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional().catch(undefined), embedding: rowSchema })),
});

/** The embeddings of an answer in the order of the texts. */
export function readAnswer(answer: unknown, service: Service): EmbeddingRow[] {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) throw unusableAnswer(service, 'it holds no embeddings');
  const { data } = parsed.data;
  const numbered = new Set(data.map(({ index }) => index)).size === data.length;
  if (numbered) data.sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return data.map(({ embedding }) => embedding);
}
