import { inspect } from 'node:util';
import { REDACTED } from '../faults/redactor.ts';

/** A value that no log, trace, template string or JSON shows. */
export interface Secret {
  /** The value itself, for the one place that sends it. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

export function createSecret(value: string): Secret {
  const mask = () => REDACTED;
  return Object.freeze({ reveal: () => value, toString: mask, toJSON: mask, [inspect.custom]: mask });
}
