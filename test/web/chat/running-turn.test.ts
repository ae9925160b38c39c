/// <reference lib="dom" />
import type { Browser, Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test as plainTest } from 'vitest';
import { CLOSEST_PASSAGES_OPENING } from '../../../src/domain/abstention.ts';
import type { RunningProgram } from '../../server/start-program.ts';
import { getTestBrowser } from '../../support/browser.ts';
import { ask, findOverflow, openChat, questionField, startTurn, statusRegion } from './open-chat.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { createHome, startServer } from './start-server.ts';

const TOKEN = 'correct-horse-battery-staple';
const OKAPIS = '# Okapis\n\nAn okapi is a shy relative of the giraffe. An okapi has a long blue tongue.\n';

const browser = (await getTestBrowser()) as Browser;
const test = plainTest.skipIf(browser === null);
const { home, url, model } =
  browser === null ? { home: '', url: '', model: {} as ScriptedModel } : await start();

async function start() {
  const directory = await createHome({ okapis: { 'okapis.md': OKAPIS } });
  const scripted = await startScriptedModel();
  const served = await startLexicalServer(directory, scripted, '--concurrency', '1', '--queue', '0');
  return { home: directory, url: served.ready.url, model: scripted };
}

function startLexicalServer(
  directory: string,
  scripted: ScriptedModel,
  ...flags: string[]
): Promise<RunningProgram> {
  return startCheckingServer(directory, scripted, '--mode', 'lexical', ...flags);
}

/** With the embedding model, which the check of citations uses. */
function startCheckingServer(
  directory: string,
  scripted: ScriptedModel,
  ...flags: string[]
): Promise<RunningProgram> {
  const chosen = ['--collection', 'okapis', '--model', 'scripted', '--base-url', scripted.baseUrl];
  return startServer(directory, ...chosen, '--api', 'chat_completions', ...flags);
}

/** Pauses the model until the returned function is called or the test ends. */
function pauseModel(): () => void {
  const resume = model.pause();
  onTestFinished(resume);
  return resume;
}

const stopButton = (page: Page) => page.getByRole('button', { name: 'Stop' });
const copyButton = (turn: Locator) => turn.getByRole('button', { name: 'Copy as Markdown' });

test('shows excerpts of the closest passages, and the full passages on request', async () => {
  const filler = 'A tapir sleeps in the shade of a fig tree. '.repeat(40);
  model.answerWith(`${CLOSEST_PASSAGES_OPENING}\n\n### Okapis\n\nAn okapi has a tongue. ${filler}[1]`);
  const { page } = await openChat(browser, url);
  const turn = await startTurn(page, 'What has an okapi?');
  await copyButton(turn).waitFor();
  const shown = () => turn.locator('.answer').innerText();
  expect(await shown()).toContain('An okapi has a tongue.');
  expect((await shown()).length).toBeLessThan(700);
  const button = turn.getByRole('button', { name: 'Show full passages' });
  await button.click();
  expect((await shown()).length).toBeGreaterThan(1600);
  await turn.getByRole('button', { name: 'Show excerpts' }).click();
  await button.waitFor();
});

test('shows searches and text as they arrive, and announces each step', async () => {
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  const resume = pauseModel();
  const { page } = await openChat(browser, url);
  const announced = page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const region = document.querySelector('[role=status]') as HTMLElement;
        const steps: string[] = [];
        new MutationObserver(() => {
          steps.push(region.innerText);
          if (region.innerText.startsWith('Answer complete')) resolve(steps);
        }).observe(region, { childList: true, characterData: true, subtree: true });
      }),
  );
  const turn = await startTurn(page, 'What is an okapi?');
  await turn.getByText('An okapi is').waitFor();
  await expect
    .poll(() => turn.getByRole('list', { name: 'Searches' }).innerText())
    .toMatch(/What is an okapi.*1 passage/);
  await expect.poll(() => turn.locator('.activity').innerText()).toBe('Writing');
  await expect.poll(() => statusRegion(page).innerText()).toBe('Writing');
  expect(await turn.locator('.answer').getAttribute('aria-busy')).toBe('true');
  expect(await copyButton(turn).count()).toBe(0);
  expect(await stopButton(page).isEnabled()).toBe(true);
  resume();
  await copyButton(turn).waitFor();
  await expect.poll(() => turn.locator('.answer').getAttribute('aria-busy')).toBe('false');
  await expect.poll(() => turn.locator('.activity').count()).toBe(0);
  expect(await turn.getByRole('button', { name: 'Source 1: Okapis, quoted' }).count()).toBe(1);
  expect((await announced).at(-1)).toBe('Answer complete. 1 citation, with evidence');
});

test('underlines a flagged sentence, gives the reason, and shows each marker once', async () => {
  model.answerWith(
    'An okapi is a shy relative of the giraffe [1]. ' +
      'An okapi is **a shy relative of the giraffe** from Heidelberg [1].',
  );
  const checking = await startCheckingServer(home, model);
  const { page } = await openChat(browser, checking.ready.url);
  const turn = await ask(page, 'What is an okapi?');
  expect(await turn.locator('.answer').innerText()).toContain('relative of the giraffe from Heidelberg');
  expect((await turn.locator('.answer u').allInnerTexts()).join('')).toContain('from Heidelberg');
  expect(await turn.locator('.flag').innerText()).toContain('"Heidelberg" is not in [1]');
  const markers = turn.locator('.answer .cite');
  expect(await markers.count()).toBe(1);
  expect(await markers.getAttribute('aria-label')).toContain('unsupported');
});

test('a marker opens the evidence of the sentences it stands for, a source that of all', async () => {
  model.answerWith('An okapi is a shy relative of the giraffe [1].\n\nIts tongue is long and blue [1].');
  const checking = await startCheckingServer(home, model);
  const { page } = await openChat(browser, checking.ready.url);
  const turn = await ask(page, 'What is an okapi?');
  const marked = async () => (await page.getByRole('dialog').locator('mark').allInnerTexts()).join(' ');
  await turn.locator('.answer .cite').nth(1).click();
  await expect.poll(marked).toBe('An okapi has a long blue tongue.');
  await turn.locator('.answer .cite').nth(0).click();
  await expect.poll(marked).toBe('An okapi is a shy relative of the giraffe.');
  await turn.getByRole('list', { name: 'Sources' }).getByRole('button').click();
  await expect.poll(marked).toMatch(/giraffe\. An okapi has/);
});

test('a wide table scrolls and can be reached by the keyboard; its words do not break', async () => {
  const cells = Array.from({ length: 8 }, (_, index) => `configuration_of_part_${index}`).join(' | ');
  model.answerWith(
    `| ${cells} |\n|${'---|'.repeat(8)}\n| ${cells} |\n\nAn okapi has a long blue tongue [1].`,
  );
  const { page } = await openChat(browser, url);
  const table = (await ask(page, 'What is an okapi?')).locator('.table');
  expect(await table.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(true);
  await table.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => table.evaluate((each) => each.scrollLeft)).toBeGreaterThan(0);
  expect(
    await table
      .locator('td')
      .first()
      .evaluate((each) => each.clientHeight),
  ).toBeLessThan(60);
  expect(await findOverflow(page)).toEqual([]);
});

test('a stopped turn is not stored, frees its slot, and can be asked again', async () => {
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  const resume = pauseModel();
  const { page } = await openChat(browser, url);
  const stopped = await startTurn(page, 'What is an okapi?');
  await stopped.getByText('An okapi is').waitFor();
  await stopButton(page).click();
  await stopped.getByText('Stopped. This turn was not saved.').waitFor();
  await expect.poll(() => statusRegion(page).innerText()).toBe('Stopped.');
  expect(new URL(page.url()).hash).toBe('');
  resume();
  await stopped.getByRole('button', { name: 'Ask again' }).click();
  await copyButton(page.getByRole('article')).waitFor();
  expect(new URL(page.url()).hash).not.toBe('');
  await page.reload();
  await copyButton(page.getByRole('article')).waitFor();
});

test('an answer does not appear in another conversation', async () => {
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  const resume = pauseModel();
  const { page } = await openChat(browser, url);
  await (await startTurn(page, 'What is an okapi?')).getByText('An okapi is').waitFor();
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  resume();
  const turn = await ask(page, 'What colour is the tongue of an okapi?');
  expect(await page.getByRole('article').count()).toBe(1);
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toContain('tongue');
});

test('shows why a busy server rejects a question, which can be asked again', async () => {
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  const resume = pauseModel();
  const { page: first } = await openChat(browser, url);
  const slow = await startTurn(first, 'What is an okapi?');
  await slow.getByText('An okapi is').waitFor();
  const { page, expectError } = await openChat(browser, url);
  expectError(/429/);
  const refused = await startTurn(page, 'What else is an okapi?');
  await refused.getByRole('alert').getByText('Too many questions are waiting to be answered.').waitFor();
  resume();
  await copyButton(slow).waitFor();
  await refused.getByRole('button', { name: 'Ask again' }).click();
  await copyButton(page.getByRole('article')).waitFor();
});

test('a reload during an answer keeps the question', async () => {
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  const resume = pauseModel();
  const { page } = await openChat(browser, url);
  await (await startTurn(page, 'What is an okapi?')).getByText('An okapi is').waitFor();
  await page.reload();
  await expect.poll(() => questionField(page).inputValue()).toBe('What is an okapi?');
  resume();
  await questionField(page).press('Enter');
  await copyButton(page.getByRole('article')).waitFor();
  await page.reload();
  await page.getByRole('article').waitFor();
  expect(await questionField(page).inputValue()).toBe('');
});

test('shows the error of a failing model, and the conversation can continue', async () => {
  const { page } = await openChat(browser, url);
  model.failWith(401);
  const failed = await startTurn(page, 'What is an okapi?');
  await failed.getByRole('alert').waitFor();
  expect(await failed.getByRole('alert').innerText()).toMatch(/key/i);
  model.answerWith('An okapi is a shy relative of the giraffe. [1]');
  await ask(page, 'And now, what is an okapi?');
});

test('a growing answer leaves its question in view; at the end it is followed until the user scrolls up', async () => {
  const lines = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n\n`);
  model.answerWith(lines.join(''), 'The very last line.');
  const resume = pauseModel();
  const { page } = await openChat(browser, url);
  const place = () =>
    page.getByRole('main').evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
      top: scrollTop,
      left: scrollHeight - scrollTop - clientHeight,
    }));
  const turn = await startTurn(page, 'Tell me of the okapi.');
  await turn.getByText('Line 119 of').waitFor();
  await expect.poll(async () => (await place()).left).toBeGreaterThan(500);
  expect((await place()).top).toBeLessThan(100);
  await page.getByRole('main').hover();
  await page.mouse.wheel(0, 20_000);
  await expect.poll(async () => (await place()).left).toBeLessThan(2);
  await page.mouse.wheel(0, -1500);
  await expect.poll(async () => (await place()).left).toBeGreaterThan(500);
  // Wheel scrolling is animated: wait until the position is stable for half a second.
  await page.waitForFunction(
    () => {
      const main = document.querySelector('main') as HTMLElement & { was?: number };
      const isStill = main.was === main.scrollTop;
      main.was = main.scrollTop;
      return isStill;
    },
    undefined,
    { polling: 500 },
  );
  const { top } = await place();
  resume();
  await copyButton(turn).waitFor();
  expect((await place()).top).toBe(top);
  const next = await ask(page, 'Tell me more of the okapi.');
  await expect
    .poll(() => next.getByRole('heading', { level: 2 }).evaluate((each) => each.getBoundingClientRect().top))
    .toBeLessThan(200);
});

test('asks for the token of the server and rejects a wrong one', async () => {
  const { ready } = await startLexicalServer(home, model, '--token', TOKEN);
  model.answerWith('An okapi is a shy relative of the giraffe. [1]');
  const { page, expectError, requested } = await openChat(browser, ready.url);
  expectError(/401/);
  const field = page.getByLabel('Token');
  await field.waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await field.fill('not the token at all');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').getByText('The server rejected this token.').waitFor();
  await field.fill(TOKEN);
  await page.keyboard.press('Enter');
  await ask(page, 'What is an okapi?');
  await page.reload();
  await copyButton(page.getByRole('article')).waitFor();
  expect(requested.join()).not.toContain(TOKEN);
  expect(
    await page.evaluate(() => JSON.stringify({ ...localStorage, cookie: document.cookie })),
  ).not.toContain(TOKEN);
});

test('shows that the server is gone, during an answer and after it', async () => {
  const { ready, child, ended } = await startLexicalServer(home, model);
  model.answerWith('An okapi is ', 'a shy relative of the giraffe. [1]');
  pauseModel();
  const { page, expectError } = await openChat(browser, ready.url);
  expectError(/ERR_/);
  const turn = await startTurn(page, 'What is an okapi?');
  await turn.getByText('An okapi is').waitFor();
  child.kill('SIGKILL');
  await ended;
  await turn.getByRole('alert').waitFor();
  expect(await turn.getByRole('alert').innerText()).toContain('Is citeloop serve still running?');
  expect(await turn.innerText()).toContain('An okapi is');
  const later = await startTurn(page, 'Are you there?');
  await later.getByRole('alert').getByText('Cannot reach the server.').waitFor();
  await page.getByRole('navigation').getByRole('listitem').first().getByRole('button').first().click();
  await page.getByRole('main').getByRole('alert').getByText('Cannot reach the server.').first().waitFor();
  expect(await questionField(page).isEnabled()).toBe(true);
});
