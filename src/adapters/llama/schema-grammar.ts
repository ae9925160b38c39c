import { isObject, type JsonObject } from '../openai/wire/json-object.ts';

/** Longer texts are no arguments: a model that goes on for ever is brought to an end here. */
const LONGEST_TEXT = 200;
const LONGEST_LIST = 20;
/** Bounds of numbers are spelled out as far as this. */
const MOST_NUMBERS = 100;

/** Rules of GBNF that the others are made of. */
export const SCHEMA_RULES = [
  // Neither blank nor with what would have to be escaped beyond quotes, backslashes and line ends.
  'char ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\n]',
  `text ::= "\\"" [^"\\\\\\x00-\\x20\\x7F] char{0,${LONGEST_TEXT - 1}} "\\""`,
  'digits ::= "0" | [1-9] [0-9]{0,8}',
  'integer ::= "-"? digits',
  'number ::= integer ("." [0-9]{1,6})?',
  'boolean ::= "true" | "false"',
  'any ::= text | number | boolean | "null"',
];

/**
 * What JSON of a schema looks like, as an expression of GBNF: whatever it lets through is valid, and not everything
 * valid is let through. Texts are not empty, numbers have no exponents, and fields come in the order of the schema,
 * those that must be there first. Patterns, formats and far bounds of numbers are not looked at.
 */
export function schemaExpression(schema: unknown): string {
  if (!isObject(schema)) return 'any';
  if (schema.const !== undefined) return jsonLiteral(schema.const);
  if (Array.isArray(schema.enum)) return eitherOf(schema.enum.map(jsonLiteral));
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined) return eitherOf(choices.map(schemaExpression));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return eitherOf(types.map((type) => expressionOfType(type, schema)));
}

function expressionOfType(type: unknown, schema: JsonObject): string {
  switch (type) {
    case 'object':
      return objectExpression(schema);
    case 'array':
      return listExpression(schema);
    case 'string':
      return 'text';
    case 'integer':
      return numbersBetween(schema, false) ?? (atLeastZero(schema) ? 'digits' : 'integer');
    case 'number':
      return numbersBetween(schema, true) ?? (atLeastZero(schema) ? 'digits ("." [0-9]{1,6})?' : 'number');
    case 'boolean':
      return 'boolean';
    case 'null':
      return '"null"';
    default:
      return 'any';
  }
}

function objectExpression({ properties, required }: JsonObject): string {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const written = ([name, schema]: [string, unknown]) =>
    `${literal(`${JSON.stringify(name)}: `)} ${group(schemaExpression(schema))}`;
  const needed = fields.filter(([name]) => isRequired(name)).map(written);
  const others = fields.filter(([name]) => !isRequired(name)).map(written);
  if (needed.length === 0) return `"{" ${optionalFields(others)} "}"`;
  const more = others.map((field) => `(", " ${field})?`);
  return ['"{"', needed.join(' ", " '), ...more, '"}"'].join(' ');
}

/** Any of them, none included, in their order. */
function optionalFields(fields: readonly string[]): string {
  const [first, ...rest] = fields;
  if (first === undefined) return '';
  const after = rest.map((field) => `(", " ${field})?`).join(' ');
  return rest.length === 0 ? `(${first})?` : `(${first} ${after} | ${optionalFields(rest)})`;
}

function listExpression({ items, minItems, maxItems }: JsonObject): string {
  const item = group(schemaExpression(items));
  const least = typeof minItems === 'number' ? minItems : 0;
  const most = Math.max(least, typeof maxItems === 'number' ? maxItems : LONGEST_LIST);
  if (most === 0) return '"[]"';
  const whole = `${item} (", " ${item}){${Math.max(0, least - 1)},${most - 1}}`;
  return `"[" ${least === 0 ? `(${whole})?` : whole} "]"`;
}

/** The whole numbers between two bounds, with the fractions between them where those are wanted; null if too many. */
function numbersBetween(schema: JsonObject, fractions: boolean): string | null {
  const { minimum, maximum } = schema;
  if (typeof minimum !== 'number' || typeof maximum !== 'number') return null;
  const [first, last] = [Math.ceil(minimum), Math.floor(maximum)];
  if (first < 0 || last < first || last - first >= MOST_NUMBERS) return null;
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return eitherOf(
    numbers.map((each) =>
      fractions && each < last ? `${literal(String(each))} ("." [0-9]{1,4})?` : literal(String(each)),
    ),
  );
}

function atLeastZero({ minimum }: JsonObject): boolean {
  return typeof minimum === 'number' && minimum >= 0;
}

function jsonLiteral(value: unknown): string {
  return literal(JSON.stringify(value));
}

export function eitherOf(expressions: readonly string[]): string {
  const different = [...new Set(expressions)];
  return different.length === 1 ? (different[0] ?? '') : different.map(group).join(' | ');
}

function group(expression: string): string {
  return `(${expression})`;
}

/** A text as a grammar spells it. */
export function literal(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t')}"`;
}
