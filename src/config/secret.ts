import { inspect } from 'node:util';
import { REDACTED } from '../faults/redactor.ts';

/** A value that no log, trace, template string or JSON shows; `reveal` is for the one place that sends it. */
export interface Secret {
  reveal(): string;
}

export function createSecret(value: string): Secret {
  const mask = () => REDACTED;
  return Object.freeze({ reveal: () => value, toString: mask, toJSON: mask, [inspect.custom]: mask });
}
