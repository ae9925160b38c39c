/// <reference lib="dom" />
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { expect, test as plainTest } from 'vitest';
import { browserForTests } from '../../support/browser.ts';
import { homeWith, serve } from './served-home.ts';
import { ask, questionField, sidewaysOverflow, status, visit } from './visit.ts';

const ZEBRAS = `# Zebras

A zebra is a striped horse that lives in Africa. A zebra eats grass for most of the day.

## Stripes

The stripes of a zebra confuse flies. No two zebras have the same stripes. ${'Dust settles on a coat, and rain washes it off again. '.repeat(30)}

## Herds

Zebras live in herds of up to a hundred animals, led by one stallion. ${'They walk far, and they rest at noon under trees. '.repeat(30)}
`;
const PENGUINS = '# Penguins\n\nA penguin is a bird that cannot fly. A penguin swims after krill.\n';
const RAYS = '# Rays\n\nA ray is a flat fish that glides over the sand.\n';

const browser = (await browserForTests()) as Browser;
const test = plainTest.skipIf(browser === null);
const { home, url } = browser === null ? { home: '', url: '' } : await started();

async function started() {
  const directory = await homeWith({
    animals: { 'zebras.md': ZEBRAS },
    birds: { 'penguins.md': PENGUINS },
    fish: { 'rays.md': RAYS },
  });
  return { home: directory, url: (await serve(directory, '--collection', 'animals')).ready.url };
}

const sessionsOf = (page: Page) =>
  page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem');
const dialogOf = (page: Page) => page.getByRole('dialog');

test('an answer comes with its searches, its sources, their verdicts and a word to the screen reader', async () => {
  const { page } = await visit(browser, url);
  const turn = await ask(page, 'What is a zebra?');
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toBe('What is a zebra?');
  const searches = turn.getByRole('list', { name: 'Searches' }).getByRole('listitem');
  expect(await searches.first().innerText()).toMatch(/What is a zebra.*\d passages?/);
  expect(await turn.innerText()).toContain('A zebra is a striped horse that lives in Africa.');
  const sources = turn.getByRole('list', { name: 'Sources' }).getByRole('listitem');
  expect(await sources.first().innerText()).toMatch(/Zebras[\s\S]*✓ quoted/);
  expect(await turn.innerText()).toContain('✓ grounded');
  expect(await turn.getByRole('button', { name: 'Source 1: Zebras, quoted' }).count()).toBeGreaterThan(0);
  await expect.poll(() => status(page).innerText()).toMatch(/^Answer complete, grounded, \d citations?\.$/);
});

test('a citation opens its passage, marked in its context; Escape and Close give the focus back', async () => {
  const { page } = await visit(browser, url);
  const turn = await ask(page, 'What is a zebra?');
  const citation = turn.getByRole('button', { name: 'Source 1: Zebras, quoted' }).first();
  await citation.click();
  const dialog = dialogOf(page).and(page.getByLabel('Zebras'));
  await dialog.getByText('The stripes of a zebra confuse flies.').waitFor();
  expect(await dialog.locator('mark').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining('A zebra is a striped horse that lives in Africa.')]),
  );
  expect(await dialog.locator('mark').allInnerTexts()).not.toContain('No two zebras');
  expect(await dialog.locator('.passage').count()).toBeGreaterThan(1);
  expect(await dialog.innerText()).toContain('The sentence stands in the passage word for word.');
  await expect.poll(() => focused(page)).toBe('Zebras');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => focusedName(page)).toBe('Source 1: Zebras, quoted');

  await turn.getByRole('list', { name: 'Sources' }).getByRole('button').first().click();
  await dialogOf(page).getByRole('button', { name: 'Close the source' }).click();
  await dialogOf(page).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toContain('Zebras');
});

test('the page suggests questions, which are asked by a click, and opens the file of a source', async () => {
  const { page, forgive } = await visit(browser, url);
  forgive(/^opened blob:/);
  const suggested = page.getByRole('list', { name: 'Questions to begin with' }).getByRole('button');
  await suggested.first().click();
  await page.getByRole('article').getByRole('list', { name: 'Sources' }).waitFor();
  await page
    .getByRole('article')
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    dialogOf(page).getByRole('button', { name: 'Open the file' }).click(),
  ]);
  await expect.poll(() => tab.locator('body').innerText()).toContain('ebra');
});

test('that the file of a source is gone is told at once, and when the conversation is opened again', async () => {
  await rm(join(home, 'fish', 'rays.md'));
  const { page } = await visit(browser, url);
  await page.getByRole('combobox', { name: 'Collection' }).selectOption('fish');
  const turn = await ask(page, 'What is a ray?');
  await turn.getByText('the file is gone').waitFor();
  await expect.poll(() => page.url()).toMatch(/#[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByRole('article').getByText('the file is gone').waitFor();
});

test('a conversation is listed, and resumed from the list, by its address and by going back', async () => {
  const { page } = await visit(browser, url);
  await ask(page, 'What do zebras do with their stripes?');
  const entry = sessionsOf(page).filter({ hasText: 'What do zebras do with their stripes?' });
  await entry.waitFor();
  await expect.poll(() => entry.innerText()).toContain('1 turn · animals');
  await expect.poll(() => entry.getByRole('button').first().getAttribute('aria-current')).toBe('true');
  await expect.poll(() => page.url()).toMatch(/#[0-9a-f-]{36}$/);
  const address = page.url();

  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('');
  await page.goBack();
  await page.getByRole('article').waitFor();

  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  await entry.getByRole('button').first().click();
  await page.getByRole('article').waitFor();
  await expect.poll(() => page.url()).toBe(address);

  await page.reload();
  await page.getByRole('article').getByRole('list', { name: 'Sources' }).waitFor();
  expect(await page.getByRole('article').innerText()).toContain('1 search');
  await ask(page, 'How large is a herd of them?');
  await entry.getByText('2 turns').waitFor();
  await expect.poll(() => page.url()).toBe(address);
});

test('a question may be asked before the page knows what there is to choose from', async () => {
  const { page } = await visit(browser, 'about:blank');
  const known = Promise.withResolvers<void>();
  await page.route('**/api/collections', async (route) => {
    await known.promise;
    await route.continue();
  });
  await page.goto(url);
  const turn = await ask(page, 'What is a zebra?');
  expect(await turn.innerText()).toContain('✓ quoted');
  known.resolve();
  await page.getByRole('combobox', { name: 'Collection' }).getByText('birds').waitFor({ state: 'attached' });
  expect(await page.getByRole('combobox', { name: 'Collection' }).inputValue()).toBe('animals');
});

test('an address of a conversation that is gone says so and leaves an empty page', async () => {
  const { page, forgive } = await visit(browser, `${url}/#00000000-0000-4000-8000-000000000000`);
  forgive(/404/);
  await page.getByRole('alert').getByText('There is no such session.').waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('');
  await ask(page, 'What is a zebra?');
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('a conversation is reset, and deleted only after it was confirmed', async () => {
  const { page } = await visit(browser, url);
  const reset = page.getByRole('button', { name: 'Reset' });
  await expect.poll(() => reset.isDisabled()).toBe(true);
  await ask(page, 'Do zebras live in herds?');
  await reset.click();
  await page.getByRole('main').getByText('Started over').waitFor();
  const turn = await ask(page, 'Who leads the herds of zebras?');
  for (const time of ['at once', 'after a reload']) {
    await expect.poll(() => page.getByRole('article').count(), { message: time }).toBe(2);
    await expect.poll(() => page.getByText('Started over').count(), { message: time }).toBe(1);
    await expect.poll(() => turn.innerText(), { message: time }).toMatch(/^Started over/);
    await page.reload();
    await turn.waitFor();
  }

  const remove = page.getByRole('button', { name: 'Delete the conversation: Do zebras live in herds?' });
  page.once('dialog', (dialog) => dialog.dismiss());
  await remove.click();
  expect(await page.getByRole('article').count()).toBe(2);
  page.once('dialog', (dialog) => dialog.accept());
  await remove.click();
  await remove.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('');
  await expect.poll(() => focusedName(page)).toBe('Your question');
});

test('the collection and the way to search are chosen; a conversation stays with its collection', async () => {
  const { page } = await visit(browser, url);
  const collection = page.getByRole('combobox', { name: 'Collection' });
  await page.getByText('animals: 1 document,').waitFor();
  await collection.selectOption('birds');
  await page.getByText('birds: 1 document, 1 passage').waitFor();
  await page.getByRole('combobox', { name: 'Search' }).selectOption('always');
  const turn = await ask(page, 'What is a penguin?');
  expect(await turn.innerText()).toContain('A penguin is a bird that cannot fly.');
  await expect.poll(() => collection.isDisabled()).toBe(true);
  await turn
    .getByRole('button', { name: /^Source 1: Penguins/ })
    .first()
    .click();
  await dialogOf(page).getByText('A penguin swims after krill.').waitFor();

  await page.getByRole('combobox', { name: 'Search' }).selectOption('never');
  const unaided = await ask(page, 'What does a penguin eat?');
  expect(await unaided.getByRole('list', { name: 'Searches' }).count()).toBe(0);
  await expect.poll(() => unaided.innerText()).toContain('○ not grounded');
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await expect.poll(() => collection.isDisabled()).toBe(false);
});

test('an answer is copied as Markdown and judged, and the verdict is kept', async () => {
  const { page } = await visit(browser, url);
  const turn = await ask(page, 'What is a zebra?');
  await turn.getByRole('button', { name: 'Copy as Markdown' }).click();
  await turn.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^## What is a zebra\?\n\nA zebra is a striped horse/);
  expect(copied).toMatch(/Sources:\n- \[1\] \[Zebras\]\(<zebras\.md>\), quoted/);

  const good = turn.getByRole('button', { name: 'Good' });
  await good.click();
  await turn.getByRole('button', { name: 'Good', pressed: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Good', pressed: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Bad' }).getAttribute('aria-pressed')).toBe('false');
});

test('everything is reached by the keyboard alone, in the order in which it is read', async () => {
  const { page } = await visit(browser, url);
  await page.getByText('animals: 1 document,').waitFor();
  await expect.poll(() => focusedName(page)).toBe('Your question');
  await page.keyboard.type('What is a zebra?');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('In one line.');
  expect(await questionField(page).inputValue()).toBe('What is a zebra?\nIn one line.');
  await questionField(page).fill('What is a zebra?');
  await page.keyboard.press('Tab');
  await expect.poll(() => focused(page)).toBe('Ask');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  await expect.poll(() => focusedName(page)).toBe('Your question');

  const passed: string[] = [];
  while (!(await focusedName(page)).startsWith('Source 1') && passed.length < 20) {
    await page.keyboard.press('Shift+Tab');
    passed.push(await focused(page));
  }
  expect(passed.slice(0, 3)).toEqual(['Bad', 'Good', 'Copy as Markdown']);
  await page.keyboard.press('Enter');
  await dialogOf(page).locator('mark').first().waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => focusedName(page)).toBe('Close the source');
  await page.keyboard.press('Enter');
  await expect.poll(() => focusedName(page)).toMatch(/^Source 1/);
});

test('dark and light follow the system until one is chosen, and the choice stays', async () => {
  const { page } = await visit(browser, url, { colorScheme: 'dark' });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const colours = page.getByRole('combobox', { name: 'Colours' });
  const dark = await ground();
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await ground();
  expect(light).toBe('rgb(255, 255, 255)');
  expect(dark).not.toBe(light);
  await colours.selectOption('dark');
  await expect.poll(ground).toBe(dark);
  await page.reload();
  await colours.waitFor();
  await expect.poll(ground).toBe(dark);
  await page.emulateMedia({ colorScheme: 'dark' });
  await colours.selectOption('light');
  await expect.poll(ground).toBe(light);
});

test('on a phone nothing sticks out, and the menu holds the settings and the conversations', async () => {
  const { page } = await visit(browser, url, { viewport: { width: 390, height: 844 } }, { hasTouch: true });
  await expect.poll(() => sidewaysOverflow(page)).toEqual([]);
  const turn = await ask(page, 'What is a zebra?');
  await expect.poll(() => sidewaysOverflow(page)).toEqual([]);
  await turn
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
  expect(await dialogOf(page).locator('mark').first().isVisible()).toBe(true);
  await expect.poll(() => sidewaysOverflow(page)).toEqual([]);
  await page.keyboard.press('Escape');

  const menu = page.getByRole('button', { name: 'Conversations and settings' });
  expect(await page.getByRole('navigation', { name: 'Conversations' }).isVisible()).toBe(false);
  await menu.click();
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('true');
  for (const name of ['Collection', 'Search', 'Colours']) {
    const select = page.getByRole('combobox', { name });
    expect(await select.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  }
  await expect.poll(() => sidewaysOverflow(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('false');
  await expect.poll(() => focusedName(page)).toBe('Conversations and settings');
  await menu.click();
  await sessionsOf(page).first().getByRole('button').first().click();
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('false');
});

test('the page is outlined by headings and landmarks, and every control has a name', async () => {
  const { page } = await visit(browser, url);
  await ask(page, 'What is a zebra?');
  await page
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
  for (const landmark of ['banner', 'navigation', 'main'] as const) {
    expect(await page.getByRole(landmark).count()).toBe(1);
  }
  const levels = await page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((heading) => Number(heading.tagName[1])),
  );
  expect(levels.filter((level) => level === 1)).toHaveLength(1);
  const steps = levels.map((level, index) => level - (levels[index - 1] ?? 0));
  expect(Math.max(...steps)).toBe(1);
  const tree = await page.locator('body').ariaSnapshot();
  expect(tree).not.toMatch(/- (?:button|combobox|textbox|link)(?::| \[|$)/m);
});

test('the policy allows nothing from elsewhere, and the page asks its own server alone', async () => {
  const { page, requested } = await visit(browser, url);
  await ask(page, 'What is a zebra?');
  const response = await page.request.get(url);
  const policy = response.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');
  expect(await response.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  expect(requested.length).toBeGreaterThan(4);
  expect(
    await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)),
  ).toSatisfy((names: string[]) => names.every((name) => name.startsWith(url)));
});

function focused(page: Page): Promise<string> {
  return page.evaluate(() => (document.activeElement as HTMLElement).innerText);
}

function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement;
    return element.ariaLabel ?? element.labels?.[0]?.innerText ?? '';
  });
}
