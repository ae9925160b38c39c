/// <reference lib="dom" />
import type { PageCase, PageData } from '../page-data.ts';
import type { Criteria } from './case-filter.ts';

/**
 * Joins the filters, the list and the buttons that lead to it.
 * Runs in the page: it may use nothing from outside itself.
 */
export function caseList(
  data: PageData,
  filter: (criteria: Criteria) => number[],
  viewCase: (item: PageCase) => HTMLElement,
): void {
  const PAGE = 50;
  const find = (selector: string) => document.querySelector(selector) as HTMLElement;
  const form = find('.filters') as HTMLFormElement;
  const list = find('#case-list');
  const count = find('#case-count');
  const more = find('#more-cases') as HTMLButtonElement;
  /** Made once: a case that was opened stays so when it comes back. */
  const views = new Map<number, HTMLElement>();
  let found: number[] = [];
  let shown = 0;

  const control = (name: string) =>
    form.elements.namedItem(name) as HTMLSelectElement | HTMLInputElement | null;
  const fieldValue = (name: string, otherwise: string) => control(name)?.value ?? otherwise;

  function set(name: string, value: string): void {
    const field = control(name);
    if (field !== null) field.value = value;
  }

  function criteria(): Criteria {
    const arm = fieldValue('arm', '');
    const metric = fieldValue('metric', '');
    return {
      text: fieldValue('text', ''),
      tag: fieldValue('tag', ''),
      differ: fieldValue('differ', 'all'),
      metric: metric === '' ? null : Number(metric),
      outcome: fieldValue('outcome', 'any'),
      arm: arm === '' ? null : Number(arm),
    };
  }

  function showMore(): void {
    const next = found.slice(shown, shown + PAGE);
    const made = next.flatMap((place) => {
      const item = data.cases[place];
      if (item === undefined) return [];
      const view = views.get(place) ?? viewCase(item);
      views.set(place, view);
      return [view];
    });
    list.append(...made);
    shown += next.length;
    const left = found.length - shown;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(PAGE, left)} more of ${left}`;
  }

  function refresh(): void {
    found = filter(criteria());
    shown = 0;
    list.replaceChildren();
    showMore();
    const all = data.cases.length;
    count.textContent =
      found.length === all ? `All ${all} ${all === 1 ? 'case' : 'cases'}` : `${found.length} of ${all} cases`;
  }

  form.addEventListener('input', refresh);
  form.addEventListener('submit', (event) => event.preventDefault());
  // The fields change only after the event.
  form.addEventListener('reset', () => setTimeout(refresh));
  more.addEventListener('click', () => {
    const last = list.lastElementChild;
    showMore();
    // The button may vanish below the finger; go on where the new ones begin.
    (last?.nextElementSibling?.querySelector('summary') as HTMLElement | null)?.focus();
  });
  for (const button of document.querySelectorAll<HTMLElement>('button.jump')) {
    button.addEventListener('click', () => {
      const { metric = '', better = '', than = '' } = button.dataset;
      form.reset();
      set('differ', `${data.arms.indexOf(better)}>${data.arms.indexOf(than)}`);
      set('metric', String(data.metrics.findIndex(({ id }) => id === metric)));
      refresh();
      const title = find('#cases-title');
      title.scrollIntoView();
      title.focus({ preventScroll: true });
    });
  }

  set('differ', 'differ');
  refresh();
  if (found.length === 0) {
    set('differ', 'all');
    refresh();
  }
}
