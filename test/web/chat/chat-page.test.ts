/// <reference lib="dom" />
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect, test as plainTest } from 'vitest';
import { getTestBrowser } from '../../support/browser.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { ask, findOverflow, openChat, questionField, statusRegion } from './open-chat.ts';
import { createHome, startServer } from './start-server.ts';

const ZEBRAS = `# Zebras

A zebra is a striped horse that lives in Africa. A zebra eats grass for most of the day.

## Stripes

The stripes of a zebra confuse flies. No two zebras have the same stripes. ${'Dust settles on a coat, and rain washes it off again. '.repeat(30)}

## Herds

Zebras live in herds of up to a hundred animals, led by one stallion. ${'They walk far, and they rest at noon under trees. '.repeat(30)}
`;
const PENGUINS = '# Penguins\n\nA penguin is a bird that cannot fly. A penguin swims after krill.\n';
const BUILD = `# Building

Build the program with this script:

\`\`\`python
import subprocess  # ${'a long comment '.repeat(20)}
subprocess.run(["make", "all"])
\`\`\`
`;
const RAYS = '# Rays\n\nA ray is a flat fish that glides over the sand.\n';

const browser = (await getTestBrowser()) as Browser;
const test = plainTest.skipIf(browser === null);
const { home, url } = browser === null ? { home: '', url: '' } : await start();

async function start() {
  const directory = await createHome({
    animals: { 'zebras.md': ZEBRAS },
    birds: { 'penguins.md': PENGUINS },
    fish: { 'rays.md': RAYS },
    builds: { 'building.md': BUILD },
  });
  return { home: directory, url: (await startServer(directory, '--collection', 'animals')).ready.url };
}

const sessionsOf = (page: Page) =>
  page.getByRole('navigation', { name: 'Conversations' }).getByRole('listitem');
const dialogOf = (page: Page) => page.getByRole('dialog');

async function openFirstSource(page: Page): Promise<void> {
  await page
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
}

test('shows an answer with its searches, sources and verdicts, and announces it', async () => {
  const { page } = await openChat(browser, url);
  const turn = await ask(page, 'What is a zebra?');
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toBe('What is a zebra?');
  const searches = turn.getByRole('list', { name: 'Searches' }).getByRole('listitem');
  expect(await searches.first().innerText()).toMatch(/What is a zebra.*\d passages?/);
  expect(await turn.innerText()).toContain('A zebra is a striped horse that lives in Africa.');
  const sources = turn.getByRole('list', { name: 'Sources' }).getByRole('listitem');
  expect(await sources.first().innerText()).toContain('Zebras');
  expect(await turn.innerText()).toMatch(/\d citations?, (?:all )?with evidence/);
  expect(await turn.getByRole('button', { name: 'Source 1: Zebras, quoted' }).count()).toBeGreaterThan(0);
  await expect
    .poll(() => statusRegion(page).innerText())
    .toMatch(/^Answer complete\. \d citations?, (?:all )?with evidence$/);
});

test('a citation opens its passage in context; closing it restores the focus', async () => {
  const { page } = await openChat(browser, url);
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
  expect(await dialog.innerText()).toContain('The passage contains this sentence word for word.');
  await expect.poll(() => focused(page)).toBe('Zebras');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => focusedName(page)).toBe('Source 1: Zebras, quoted');

  await turn.getByRole('list', { name: 'Sources' }).getByRole('button').first().click();
  await dialogOf(page).getByRole('button', { name: 'Close source' }).click();
  await dialogOf(page).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toContain('Zebras');
});

test('opens the file of a source', async () => {
  const { page, expectError } = await openChat(browser, url);
  expectError(/^opened blob:/);
  await ask(page, 'What is a zebra?');
  await page
    .getByRole('article')
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
  const [tab] = await Promise.all([
    page.waitForEvent('popup'),
    dialogOf(page).getByRole('button', { name: 'Open file' }).click(),
  ]);
  await expect.poll(() => tab.locator('body').innerText()).toContain('ebra');
});

test('shows that a source file is missing, at once and after a reload', async () => {
  await rm(join(home, 'fish', 'rays.md'));
  const { page } = await openChat(browser, url);
  await page.getByRole('combobox', { name: 'Collection' }).selectOption('fish');
  const turn = await ask(page, 'What is a ray?');
  await turn.getByText('source file is missing').waitFor();
  await expect.poll(() => page.url()).toMatch(/#[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByRole('article').getByText('source file is missing').waitFor();
});

test('resumes a conversation from the list, by its URL and with the back button', async () => {
  const { page } = await openChat(browser, url);
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
  // As at once: reading around a result is not listed as a search.
  expect(await page.getByRole('list', { name: 'Searches' }).getByRole('listitem').count()).toBe(1);
  await ask(page, 'How large is a herd of them?');
  await entry.getByText('2 turns').waitFor();
  await expect.poll(() => page.url()).toBe(address);
});

test('accepts a question before the collections are loaded', async () => {
  const { page } = await openChat(browser, 'about:blank');
  const known = Promise.withResolvers<void>();
  await page.route('**/api/collections', async (route) => {
    await known.promise;
    await route.continue();
  });
  await page.goto(url);
  const turn = await ask(page, 'What is a zebra?');
  expect(await turn.innerText()).toContain('with evidence');
  known.resolve();
  await page.getByRole('combobox', { name: 'Collection' }).getByText('birds').waitFor({ state: 'attached' });
  expect(await page.getByRole('combobox', { name: 'Collection' }).inputValue()).toBe('animals');
});

test('shows an error and a new conversation for an unknown session URL', async () => {
  const { page, expectError } = await openChat(browser, `${url}/#00000000-0000-4000-8000-000000000000`);
  expectError(/404/);
  await page.getByRole('alert').getByText('Unknown session.').waitFor();
  await expect.poll(() => new URL(page.url()).hash).toBe('');
  await ask(page, 'What is a zebra?');
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('shows what another tab has added, and keeps the conversation if another one cannot be loaded', async () => {
  const { page, expectError } = await openChat(browser, url);
  await ask(page, 'Which stripes has a zebra?');
  await expect.poll(() => page.url()).toMatch(/#[0-9a-f-]{36}$/);
  const { page: other } = await openChat(browser, page.url());
  await other.getByRole('article').waitFor();
  await ask(other, 'Where do zebras live?');
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await expect.poll(() => page.getByRole('article').count()).toBe(2);
  expectError(/500/);
  await page.route('**/api/sessions/*', (route) => route.fulfill({ status: 500, body: '{}' }));
  const address = page.url();
  const entries = sessionsOf(page).filter({ hasNotText: 'Which stripes has a zebra?' });
  await entries.first().getByRole('button').first().click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('article').count()).toBe(2);
  expect(page.url()).toBe(address);
});

test('resets a conversation, and deletes it after confirmation', async () => {
  const { page } = await openChat(browser, url);
  const reset = page.getByRole('button', { name: 'Start over' });
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

test('uses the selected collection and policy; a conversation keeps its collection', async () => {
  const { page } = await openChat(browser, url);
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
  expect(await unaided.innerText()).toContain('not searched');
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await expect.poll(() => collection.isDisabled()).toBe(false);
});

test('copies an answer as Markdown', async () => {
  const { page } = await openChat(browser, url);
  const turn = await ask(page, 'What is a zebra?');
  await turn.getByRole('button', { name: 'Copy as Markdown' }).click();
  await turn.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^## What is a zebra\?\n\n### Zebras\n\nA zebra is a striped horse/);
  expect(copied).toMatch(/Sources:\n- \[1\] \[Zebras\]\(<zebras\.md>\)\n {2}> A zebra is a striped horse/);
});

test('the keyboard reaches everything in reading order', async () => {
  const { page } = await openChat(browser, url);
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
  while (!(await focusedName(page)).startsWith('Source 1') && passed.length < 60) {
    await page.keyboard.press('Shift+Tab');
    passed.push(await focused(page));
  }
  expect(passed[0]).toBe('Copy as Markdown');
  await page.keyboard.press('Enter');
  await dialogOf(page).locator('mark').first().waitFor();
  await page.keyboard.press('Tab');
  await expect.poll(() => focusedName(page)).toBe('Close source');
  await page.keyboard.press('Enter');
  await expect.poll(() => focusedName(page)).toMatch(/^Source 1/);
});

test('the theme follows the system until one is selected, which is stored', async () => {
  const { page } = await openChat(browser, url, { colorScheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const theme = page.getByRole('combobox', { name: 'Theme' });
  const dark = await background();
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background();
  expect(light).toBe('rgb(255, 255, 255)');
  expect(dark).not.toBe(light);
  await theme.selectOption('dark');
  await expect.poll(background).toBe(dark);
  await page.reload();
  await theme.waitFor();
  await expect.poll(background).toBe(dark);
  await page.emulateMedia({ colorScheme: 'dark' });
  await theme.selectOption('light');
  await expect.poll(background).toBe(light);
});

test('fits a phone; the menu contains the settings and the conversations', async () => {
  const { page } = await openChat(
    browser,
    url,
    { viewport: { width: 390, height: 844 } },
    { hasTouch: true },
  );
  await expect.poll(() => findOverflow(page)).toEqual([]);
  const turn = await ask(page, 'What is a zebra?');
  await expect.poll(() => findOverflow(page)).toEqual([]);
  await turn
    .getByRole('button', { name: /^Source 1/ })
    .first()
    .click();
  await dialogOf(page).locator('mark').first().waitFor();
  expect(await dialogOf(page).locator('mark').first().isVisible()).toBe(true);
  await expect.poll(() => findOverflow(page)).toEqual([]);
  await page.keyboard.press('Escape');

  const menu = page.getByRole('button', { name: 'Conversations and settings' });
  expect(await page.getByRole('navigation', { name: 'Conversations' }).isVisible()).toBe(false);
  await menu.click();
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('true');
  for (const name of ['Collection', 'Search', 'Theme']) {
    const select = page.getByRole('combobox', { name });
    expect(await select.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  }
  await expect.poll(() => findOverflow(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('false');
  await expect.poll(() => focusedName(page)).toBe('Conversations and settings');
  await menu.click();
  await sessionsOf(page).first().getByRole('button').first().click();
  await expect.poll(() => menu.getAttribute('aria-expanded')).toBe('false');
});

test('code has colours, a button to copy it, and no clipped lines; no marker stands alone below it', async () => {
  const { page } = await openChat(browser, url, {}, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.getByLabel('Collection').selectOption('builds');
  const turn = await ask(page, 'How do I build the program with a script?');
  expect(await turn.locator('pre .hljs-keyword').first().innerText()).toBe('import');
  const box = turn.locator('pre');
  expect(await box.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(false);
  expect(await findOverflow(page)).toEqual([]);
  await turn.getByRole('button', { name: 'Copy code' }).click();
  await turn.getByRole('button', { name: 'Copied code' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /^import subprocess .*\nsubprocess\.run/s,
  );
  expect(await turn.locator('.answer > p').allInnerTexts()).not.toContainEqual(expect.stringMatching(/^\d/));
});

test('single questions of the command line are not in the list of conversations', async () => {
  await runInProcess(['ask', 'What is a striped horse?', '--collection', 'animals'], { home });
  const { page } = await openChat(browser, url);
  await ask(page, 'Do zebras eat grass?');
  await expect
    .poll(() => sessionsOf(page).allInnerTexts())
    .toContainEqual(expect.stringContaining('eat grass'));
  expect((await sessionsOf(page).allInnerTexts()).join()).not.toContain('striped horse?');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing wrong in the ${colorScheme} theme`, async () => {
    const { page } = await openChat(browser, url, { colorScheme }, { bypassCSP: true });
    await ask(page, 'What is a zebra?');
    await openFirstSource(page);
    await page.addScriptTag({ path: join(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js') });
    const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
  });
}

test('has landmarks, ordered headings, and a name for every control', async () => {
  const { page } = await openChat(browser, url);
  await ask(page, 'What is a zebra?');
  await openFirstSource(page);
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

test('the content policy allows only the own server, and the page requests nothing else', async () => {
  const { page, requested } = await openChat(browser, url);
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
