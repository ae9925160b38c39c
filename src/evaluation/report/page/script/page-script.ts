import { formatValue } from '../../format-value.ts';
import { caseFilter } from './case-filter.ts';
import { caseList } from './case-list.ts';
import { caseView } from './case-view.ts';
import { elementMaker } from './element-maker.ts';
import { runView } from './run-view.ts';
import { theme } from './theme.ts';

/** Where the page keeps its cases. */
export const DATA_ID = 'report-data';

/** Runs in the head, so that the page never flashes in the wrong theme. */
export function themeScript(): string {
  return `(${theme})();`;
}

/**
 * The script of the page. Its parts are functions of this program, written into it by their source: each may use
 * only its own parameters and what a browser has, for its neighbours may bear other names once they are bundled.
 */
export function pageScript(): string {
  return `'use strict';
const data = JSON.parse(document.getElementById('${DATA_ID}').textContent);
const make = (${elementMaker})();
const format = ${formatValue};
const viewRun = (${runView})(data, make, format);
const viewCase = (${caseView})(data, make, format, viewRun);
(${caseList})(data, (${caseFilter})(data), viewCase);
`;
}
