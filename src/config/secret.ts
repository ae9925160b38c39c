import { inspect } from 'node:util';
import type { AppError } from '../faults/app-error.ts';
import { REDACTED } from '../faults/redactor.ts';

/** A value that no log, trace, template string or JSON shows; `reveal` is for the one place that sends it. */
export interface Secret {
  reveal(): string;
}

export function createSecret(value: string): Secret {
  return mask(() => value);
}

/** A key that must not be sent: `reveal` throws the reason. */
export function createRefusedSecret(reason: AppError): Secret {
  return mask(() => {
    throw reason;
  });
}

function mask(reveal: () => string): Secret {
  const hide = () => REDACTED;
  return Object.freeze({ reveal, toString: hide, toJSON: hide, [inspect.custom]: hide });
}
