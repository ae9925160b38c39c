/// <reference lib="dom" />
import type { Browser, Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test as plainTest } from 'vitest';
import { CLOSEST_PASSAGES } from '../../../src/domain/abstention.ts';
import type { RunningProgram } from '../../server/start-program.ts';
import { browserForTests } from '../../support/browser.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { homeWith, serve } from './served-home.ts';
import { ask, begin, questionField, status, visit } from './visit.ts';

const TOKEN = 'correct-horse-battery-staple';
const OKAPIS = '# Okapis\n\nAn okapi is a shy relative of the giraffe. An okapi has a long blue tongue.\n';

const browser = (await browserForTests()) as Browser;
const test = plainTest.skipIf(browser === null);
const { home, url, model } =
  browser === null ? { home: '', url: '', model: {} as ScriptedModel } : await started();

async function started() {
  const directory = await homeWith({ okapis: { 'okapis.md': OKAPIS } });
  const scripted = await startScriptedModel();
  const served = await scriptedServer(directory, scripted, '--concurrency', '1', '--queue', '0');
  return { home: directory, url: served.ready.url, model: scripted };
}

function scriptedServer(
  directory: string,
  scripted: ScriptedModel,
  ...flags: string[]
): Promise<RunningProgram> {
  return judgingServer(directory, scripted, '--mode', 'lexical', ...flags);
}

/** One that reads with the embedding model, too. */
function judgingServer(
  directory: string,
  scripted: ScriptedModel,
  ...flags: string[]
): Promise<RunningProgram> {
  const chosen = ['--collection', 'okapis', '--model', 'scripted', '--base-url', scripted.baseUrl];
  return serve(directory, ...chosen, '--api', 'chat_completions', ...flags);
}

/** A model that waits; it is let go when the test ends, whatever happened. */
function waits(): () => void {
  const goOn = model.waits();
  onTestFinished(goOn);
  return goOn;
}

const stopButton = (page: Page) => page.getByRole('button', { name: 'Stop' });
const complete = (turn: Locator) => turn.getByRole('button', { name: 'Copy as Markdown' });

test('the closest passages are shown in part, and whole by a button', async () => {
  const filler = 'A tapir sleeps in the shade of a fig tree. '.repeat(40);
  model.says(`${CLOSEST_PASSAGES}\n\n### Okapis\n\nAn okapi has a tongue. ${filler}[1]`);
  const { page } = await visit(browser, url);
  const turn = await begin(page, 'What has an okapi?');
  await complete(turn).waitFor();
  const shown = () => turn.locator('.answer').innerText();
  expect(await shown()).toContain('An okapi has a tongue.');
  expect((await shown()).length).toBeLessThan(700);
  const button = turn.getByRole('button', { name: 'Show the whole passages' });
  await button.click();
  expect((await shown()).length).toBeGreaterThan(1600);
  await turn.getByRole('button', { name: 'Show the nearest parts' }).click();
  await button.waitFor();
});

test('the searches and the words of an answer are shown as they come, and each step is told', async () => {
  model.says('An okapi is ', 'a shy relative of the giraffe. [1]');
  const goOn = waits();
  const { page } = await visit(browser, url);
  const told = page.evaluate(
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
  const turn = await begin(page, 'What is an okapi?');
  await turn.getByText('An okapi is').waitFor();
  await expect
    .poll(() => turn.getByRole('list', { name: 'Searches' }).innerText())
    .toMatch(/What is an okapi.*1 passage/);
  await expect.poll(() => turn.locator('.activity').innerText()).toBe('Writing');
  await expect.poll(() => status(page).innerText()).toBe('Writing');
  expect(await turn.locator('.answer').getAttribute('aria-busy')).toBe('true');
  expect(await complete(turn).count()).toBe(0);
  expect(await stopButton(page).isEnabled()).toBe(true);
  goOn();
  await complete(turn).waitFor();
  await expect.poll(() => turn.locator('.answer').getAttribute('aria-busy')).toBe('false');
  await expect.poll(() => turn.locator('.activity').count()).toBe(0);
  expect(await turn.getByRole('button', { name: 'Source 1: Okapis, quoted' }).count()).toBe(1);
  expect((await told).at(-1)).toBe('Answer complete, grounded, 1 citation.');
});

test('the words of an answer that no source bears out are underlined where they stand', async () => {
  model.says('An okapi is **a shy relative of the giraffe** from Heidelberg [1].');
  const judging = await judgingServer(home, model);
  const { page } = await visit(browser, judging.ready.url);
  const turn = await ask(page, 'What is an okapi?');
  expect(await turn.locator('.answer').innerText()).toContain('relative of the giraffe from Heidelberg');
  expect(await turn.locator('.answer u').allInnerTexts()).toEqual(['Heidelberg']);
});

test('a turn that is stopped is not kept, frees its place, and can be asked again', async () => {
  model.says('An okapi is ', 'a shy relative of the giraffe. [1]');
  const goOn = waits();
  const { page } = await visit(browser, url);
  const stopped = await begin(page, 'What is an okapi?');
  await stopped.getByText('An okapi is').waitFor();
  await stopButton(page).click();
  await stopped.getByText('Stopped. Nothing of this turn was kept.').waitFor();
  await expect.poll(() => status(page).innerText()).toBe('Stopped.');
  expect(new URL(page.url()).hash).toBe('');
  goOn();
  await stopped.getByRole('button', { name: 'Ask again' }).click();
  const again = page.getByRole('article').nth(1);
  await complete(again).waitFor();
  expect(new URL(page.url()).hash).not.toBe('');
  await page.reload();
  await complete(page.getByRole('article')).waitFor();
});

test('an answer of a conversation that was left does not turn up in another', async () => {
  model.says('An okapi is ', 'a shy relative of the giraffe. [1]');
  const goOn = waits();
  const { page } = await visit(browser, url);
  await (await begin(page, 'What is an okapi?')).getByText('An okapi is').waitFor();
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('heading', { name: 'Ask your documents' }).waitFor();
  goOn();
  const turn = await ask(page, 'What colour is the tongue of an okapi?');
  expect(await page.getByRole('article').count()).toBe(1);
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toContain('tongue');
});

test('a server that is busy refuses with a reason, and the question can be asked again', async () => {
  model.says('An okapi is ', 'a shy relative of the giraffe. [1]');
  const goOn = waits();
  const { page: first } = await visit(browser, url);
  const slow = await begin(first, 'What is an okapi?');
  await slow.getByText('An okapi is').waitFor();
  const { page, forgive } = await visit(browser, url);
  forgive(/429/);
  const refused = await begin(page, 'What else is an okapi?');
  await refused.getByRole('alert').getByText('Too many questions are waiting to be answered.').waitFor();
  goOn();
  await complete(slow).waitFor();
  await refused.getByRole('button', { name: 'Ask again' }).click();
  await complete(page.getByRole('article').nth(1)).waitFor();
});

test('a model that fails is told in the turn, and the conversation goes on', async () => {
  const { page } = await visit(browser, url);
  model.fails(401);
  const failed = await begin(page, 'What is an okapi?');
  await failed.getByRole('alert').waitFor();
  expect(await failed.getByRole('alert').innerText()).toMatch(/key/i);
  model.says('An okapi is a shy relative of the giraffe. [1]');
  await ask(page, 'And now, what is an okapi?');
});

test('whoever scrolled up to read is not pulled to the end, whoever did not is', async () => {
  const lines = Array.from({ length: 120 }, (_, line) => `Line ${line} of a long answer.\n\n`);
  model.says(lines.join(''), 'The very last line.');
  const goOn = waits();
  const { page } = await visit(browser, url);
  const place = () =>
    page.getByRole('main').evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({
      top: scrollTop,
      left: scrollHeight - scrollTop - clientHeight,
    }));
  const turn = await begin(page, 'Tell me of the okapi.');
  await turn.getByText('Line 119 of').waitFor();
  await expect.poll(async () => (await place()).left).toBeLessThan(2);
  await page.getByRole('main').hover();
  await page.mouse.wheel(0, -1500);
  await expect.poll(async () => (await place()).left).toBeGreaterThan(500);
  // A wheel scrolls smoothly: it has come to rest where it stays for half a second.
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
  goOn();
  await complete(turn).waitFor();
  expect((await place()).top).toBe(top);
  await ask(page, 'Tell me more of the okapi.');
  await expect.poll(async () => (await place()).left).toBeLessThan(2);
});

test('a server that wants a token gets it from the form, and only the right one opens the page', async () => {
  const { ready } = await scriptedServer(home, model, '--token', TOKEN);
  model.says('An okapi is a shy relative of the giraffe. [1]');
  const { page, forgive, requested } = await visit(browser, ready.url);
  forgive(/401/);
  const field = page.getByLabel('Token');
  await field.waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await field.fill('not the token at all');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('alert').getByText('The server did not take that token.').waitFor();
  await field.fill(TOKEN);
  await page.keyboard.press('Enter');
  await ask(page, 'What is an okapi?');
  await page.reload();
  await complete(page.getByRole('article')).waitFor();
  expect(requested.join()).not.toContain(TOKEN);
  expect(
    await page.evaluate(() => JSON.stringify({ ...localStorage, cookie: document.cookie })),
  ).not.toContain(TOKEN);
});

test('a server that is gone is told, in the middle of an answer and after it', async () => {
  const { ready, child, ended } = await scriptedServer(home, model);
  model.says('An okapi is ', 'a shy relative of the giraffe. [1]');
  waits();
  const { page, forgive } = await visit(browser, ready.url);
  forgive(/ERR_/);
  const turn = await begin(page, 'What is an okapi?');
  await turn.getByText('An okapi is').waitFor();
  child.kill('SIGKILL');
  await ended;
  await turn.getByRole('alert').waitFor();
  expect(await turn.getByRole('alert').innerText()).toContain('Is citeloop serve still running?');
  expect(await turn.innerText()).toContain('An okapi is');
  const later = await begin(page, 'Are you there?');
  await later.getByRole('alert').getByText('The server cannot be reached.').waitFor();
  await page.getByRole('navigation').getByRole('listitem').first().getByRole('button').first().click();
  await page
    .getByRole('main')
    .getByRole('alert')
    .getByText('The server cannot be reached.')
    .first()
    .waitFor();
  expect(await questionField(page).isEnabled()).toBe(true);
});
