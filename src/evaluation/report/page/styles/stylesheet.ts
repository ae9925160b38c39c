import { baseStyles } from './base-styles.ts';
import { caseStyles } from './case-styles.ts';
import { plotStyles } from './plot-styles.ts';
import { printStyles } from './print-styles.ts';
import { tableStyles } from './table-styles.ts';

/** All styles of the page; what prints comes last, to win. */
export function stylesheet(): string {
  return [baseStyles, tableStyles, plotStyles, caseStyles, printStyles].join('\n');
}
