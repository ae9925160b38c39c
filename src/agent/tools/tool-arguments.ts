import * as z from 'zod';

/** A JSON schema as the SDK takes it for a strict tool. */
export interface StrictSchema {
  type: 'object';
  properties: Record<string, z.core.JSONSchema.BaseSchema>;
  required: string[];
  additionalProperties: false;
}

/**
 * The schema that a model sees, made of the one that its arguments are checked by. Strict, as OpenAI has it: every field
 * is required, and null where it is not needed.
 */
export function strictSchema(schema: z.ZodObject): StrictSchema {
  const { properties = {} } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      // Strict schemas know no bounds of texts; arguments are checked for them all the same.
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      const [kind, none] = jsonSchema.anyOf ?? [];
      if (kind === undefined || none?.type !== 'null') return;
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, kind, { type: [kind.type, 'null'] });
      if (kind.enum !== undefined) jsonSchema.enum = [...kind.enum, null];
    },
  });
  const fields = Object.entries(properties).flatMap(([name, field]) =>
    typeof field === 'boolean' ? [] : [[name, field] as const],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    required: fields.map(([name]) => name),
    additionalProperties: false,
  };
}

type CheckedArguments<Schema extends z.ZodObject> =
  | { success: true; data: z.infer<Schema> }
  | { success: false; fault: string };

/** The arguments of a call, or a sentence for the model about what is wrong with them. */
export function checkArguments<Schema extends z.ZodObject>(
  schema: Schema,
  args: unknown,
): CheckedArguments<Schema> {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed;
  const faults = isObject(args) && NOT_JSON in args ? ['they are not valid JSON'] : faultsOf(parsed.error);
  return {
    success: false,
    fault: `The arguments are not valid: ${faults.join('; ')}. Call the tool again with valid ones.`,
  };
}

function faultsOf({ issues }: z.ZodError): string[] {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
}

const NOT_JSON = 'not_json';

/**
 * Arguments that the SDK's loop passes on to the tool, which then says what is wrong with them: of those that are no JSON
 * it would tell the model so itself, in plain text, and servers refuse a conversation that holds them.
 */
export function asJson(args: string): string {
  try {
    JSON.parse(args);
    return args;
  } catch {
    return JSON.stringify({ [NOT_JSON]: args });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
