import * as z from 'zod';
import { oneLine } from '../../domain/visible-text.ts';
import type { OfferedTool } from './model-call.ts';
import { RequestFault } from './request-fault.ts';

/** Fields that both APIs share. Whatever else a request holds is left alone. */
export const sharedFields = {
  model: z.string().min(1).max(256),
  stream: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
};

export const functionFields = {
  name: z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens and underscores'),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
};
type FunctionFields = z.infer<z.ZodObject<typeof functionFields>>;

export function toOfferedTool({ name, description, parameters, strict }: FunctionFields): OfferedTool {
  return {
    name,
    description: description ?? '',
    parameters: parameters ?? { type: 'object', properties: {} },
    strict: strict ?? false,
  };
}

/** A body as the schema wants it. Throws a fault that names the field. */
export function readFields<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const fault = result.error.issues[0];
  const param = fault?.path.map(String).join('.') ?? '';
  const said = oneLine(fault?.message ?? 'unknown fault', 200);
  throw new RequestFault(400, param === '' ? `The body is not valid: ${said}.` : `${param}: ${said}.`, {
    code: 'invalid_value',
    ...(param !== '' && { param }),
  });
}

/** Throws a fault unless the choice fits the tools. */
export function checkToolChoice(choice: string | undefined, tools: readonly OfferedTool[]): void {
  if (choice === undefined || choice === 'none' || choice === 'auto') return;
  if (tools.length === 0) {
    throw new RequestFault(400, 'tool_choice needs tools.', { code: 'invalid_value', param: 'tool_choice' });
  }
  if (choice !== 'required' && !tools.some(({ name }) => name === choice)) {
    throw new RequestFault(400, `tool_choice names ${choice}, which is not among the tools.`, {
      code: 'invalid_value',
      param: 'tool_choice',
    });
  }
}

/** Throws a fault for a field whose use would be misunderstood if it were left out. */
export function refuse(
  body: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string>>,
): void {
  for (const [field, why] of Object.entries(fields)) {
    const value = body[field];
    if (value === undefined || value === null || value === false) continue;
    throw new RequestFault(400, `${field} is not supported: ${why}`, {
      code: 'unsupported_parameter',
      param: field,
    });
  }
}
