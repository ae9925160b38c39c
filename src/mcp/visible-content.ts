import { visibleText } from '../domain/visible-text.ts';

/** The same value with every text in it made visible: clients print what documents say, some to a terminal. */
export function visibleContent<T>(value: T): T {
  return visible(value) as T;
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, visible(part)]));
}
