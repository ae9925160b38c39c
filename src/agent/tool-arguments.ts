import * as z from 'zod';

/** The JSON schema of tool arguments: optional fields may be left out. Null is accepted too, but not offered. */
export function toToolSchema(schema: z.ZodObject) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      // Arguments are still checked for text lengths.
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      const [kind, none] = jsonSchema.anyOf ?? [];
      if (kind === undefined || none?.type !== 'null') return;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, kind);
    },
  });
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    typeof field === 'boolean' ? [] : [[name, field] as const],
  );
  return {
    type: 'object' as const,
    properties: Object.fromEntries(fields),
    required,
    // The SDK's type asks for true where optional fields are allowed.
    additionalProperties: false as unknown as true,
  };
}

/** The arguments of a tool call, or a sentence that tells the model what is wrong with them. */
export function checkArguments<Schema extends z.ZodObject>(schema: Schema, args: unknown) {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed;
  const isWrapped = typeof args === 'object' && args !== null && INVALID_JSON in args;
  const problems = isWrapped
    ? ['they are not valid JSON']
    : parsed.error.issues.map(({ path, message }) =>
        path.length === 0 ? message : `${path.join('.')}: ${message}`,
      );
  return {
    success: false as const,
    error: `The arguments are not valid: ${problems.join('; ')}. Call the tool again with valid ones.`,
  };
}

const INVALID_JSON = 'not_json';

/**
 * Wraps arguments that are not JSON in an object, so that `checkArguments` reports them. The SDK would answer them
 * itself with a fixed text, and servers refuse a conversation that contains them.
 */
export function wrapInvalidJson(args: string): string {
  try {
    JSON.parse(args);
    return args;
  } catch {
    return JSON.stringify({ [INVALID_JSON]: args });
  }
}
