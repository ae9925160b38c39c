/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished, test as plainTest } from 'vitest';
import { getTestBrowser } from '../../support/browser.ts';
import { ask, findOverflow, openChat, startTurn } from './open-chat.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { createHome, startServer } from './start-server.ts';

const RUN = 'window.ran=1';
const OTHER_HOST = 'http://other-host.invalid';
const LONG = 'Wildebeest'.repeat(200);
const TRICKS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${OTHER_HOST}/a.png">`,
  `<svg onload="${RUN}"><a href="javascript:${RUN}">x</a></svg>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
  `<style>@import "${OTHER_HOST}/b.css"; body { display: none }</style>`,
  `<base href="${OTHER_HOST}/"><form action="${OTHER_HOST}"><button>Ask</button></form>`,
  `<meta http-equiv="refresh" content="0;url=${OTHER_HOST}">`,
  `![a picture](${OTHER_HOST}/c.png)`,
  `[a link](javascript:${RUN})`,
  `[a link](  JaVaScRiPt:${RUN} "title")`,
  `[a link](&#106;avascript:${RUN})`,
  `[a link](java&#x0A;script:${RUN})`,
  `[a link](data:text/html,<script>opener.ran=1</script>)`,
  `[a link](vbscript:x) <javascript:${RUN}> [a link](/api/sessions) [a link](#question)`,
  `[by reference][trick] ![by reference][trick]`,
  `[^1]\n\n[^1]: A footnote <b onclick="${RUN}">here</b>`,
  `\`\`\`html\n<script>${RUN}</script>\n\`\`\``,
  `| a | b |\n|---|---|\n| <img src=x onerror=${RUN}> | [x](javascript:${RUN}) |`,
  `- [ ] <input autofocus onfocus="${RUN}">`,
  `# A heading <h1 id="question">x</h1>`,
].join('\n\n');
const DEFINITIONS = `[trick]: javascript:${RUN}\n[1]: ${OTHER_HOST}/one "one"`;

const DOCUMENT = `# Gnus <img src=x onerror=${RUN}> [evil](javascript:${RUN})

A gnu is a bearded antelope. Written \u202esdrawkcab\u202c on it. Hidden words: \u{e0068}\u{e0069}.

A gnu carries "<b onmouseover='${RUN}'>this</b>" and \`<script>${RUN}</script>\` on its back: <javascript:${RUN}>.

\`\`\`html
<script>${RUN}</script><img src=x onerror="${RUN}">
\`\`\`

${LONG}
`;

const browser = (await getTestBrowser()) as Browser;
const test = plainTest.skipIf(browser === null);
const { url, model } = browser === null ? { url: '', model: {} as ScriptedModel } : await start();

async function start() {
  const home = await createHome({
    gnus: { 'gnus.md': DOCUMENT, '<img src=x onerror=ran=1>.md': 'A gnu is grey.' },
  });
  const scripted = await startScriptedModel();
  const flags = ['--collection', 'gnus', '--model', 'scripted', '--base-url', scripted.baseUrl];
  const served = await startServer(home, ...flags, '--api', 'chat_completions', '--mode', 'lexical');
  return { url: served.ready.url, model: scripted };
}

/** Attributes that could run code, load or link something. */
function activeAttributes(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('main *, .source *')].flatMap((element) =>
      [...element.attributes]
        .filter(({ name }) =>
          /^(?:on.*|href|src|srcset|srcdoc|action|style|id|formaction|xlink:href)$/.test(name),
        )
        .map(({ name, value }) => `${element.tagName.toLowerCase()} ${name}=${value}`),
    ),
  );
}

test('an answer never runs or loads anything, while streaming, when checked, and after a reload', async () => {
  model.answerWith(`A gnu is a bearded antelope. [1]\n\n${TRICKS}\n\n${DEFINITIONS}\n\n`, 'That is all.');
  const resume = model.pause();
  onTestFinished(resume);
  const { page } = await openChat(browser, url);
  const turn = await startTurn(page, 'What is a gnu?');
  // Unchecked, as the model wrote it.
  await turn.getByText('A gnu is a bearded antelope.').waitFor();
  await expectHarmless(page);
  expect(await turn.innerText()).toContain(`<script>${RUN}</script>`);
  for (const link of await turn.getByText(/a link|by reference/).all()) await link.click();
  resume();
  await turn.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  await expectHarmless(page);
  await page.reload();
  await page.getByRole('article').getByText('A gnu is a bearded antelope').first().waitFor();
  await expectHarmless(page);
});

async function expectHarmless(page: Page): Promise<void> {
  const foreign = 'script, img, iframe, svg, style, base, form, meta, input, object, h1';
  expect(await page.getByRole('article').locator(foreign).count()).toBe(0);
  expect(await activeAttributes(page)).toEqual(['h2 id=question-1']);
  expect(await findOverflow(page)).toEqual([]);
}

test('a marker disguised as a link opens only the checked source', async () => {
  const disguised = [`[1](javascript:${RUN})`, `[1](${OTHER_HOST})`, '[1][trick]', '[1]'];
  model.answerWith(
    `${disguised.map((marker) => `A gnu is a bearded antelope. ${marker}`).join('\n\n')}\n\n${DEFINITIONS}`,
  );
  const { page } = await openChat(browser, url);
  const turn = await ask(page, 'What is a gnu?');
  expect(await turn.getByRole('link').count()).toBe(0);
  const markers = turn.locator('.answer').getByRole('button', { name: /^Source 1/ });
  expect(await markers.count()).toBeGreaterThan(0);
  for (const marker of await markers.all()) {
    await marker.click();
    await page.getByRole('dialog').locator('.passage').first().waitFor();
    await page.keyboard.press('Escape');
  }
});

test('a link shows its target; one that poses as a source is removed by the check', async () => {
  model.answerWith(
    'See the [handbook of gnus](https://evil.example/path) for more. [Source: gnus](https://evil.example/gnus) ',
    'Good luck.',
  );
  const resume = model.pause();
  onTestFinished(resume);
  const { page } = await openChat(browser, url);
  const turn = await startTurn(page, 'Where is more about the gnu?');
  const link = turn.getByRole('link', { name: 'handbook of gnus' });
  expect(await link.getAttribute('title')).toBe('https://evil.example/path');
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  expect(await link.getAttribute('target')).toBe('_blank');
  resume();
  await turn.getByText('sources that were not retrieved').waitFor();
  expect(await link.count()).toBe(1);
  expect(await turn.locator('.answer').getByRole('link').count()).toBe(1);
});

test('shows a hostile document as text and reveals its hidden characters', async () => {
  model.answerWith('A gnu is a bearded antelope. [1] A gnu is grey. [2]');
  const { page } = await openChat(browser, url);
  const turn = await ask(page, 'What is a gnu?');
  const sources = turn.getByRole('list', { name: 'Sources' }).getByRole('button');
  const shown: string[] = [];
  for (const source of await sources.all()) {
    await source.click();
    await page.getByRole('dialog').locator('.passage.cited').waitFor();
    shown.push(await page.getByRole('dialog').innerText());
    expect(await page.getByRole('dialog').locator('img, script, b, a').count()).toBe(0);
    expect(await activeAttributes(page)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^\w+ (?:on|href|src)/)]),
    );
    expect(await findOverflow(page)).toEqual([]);
    await page.keyboard.press('Escape');
  }
  const text = shown.join('\n');
  expect(text).toContain('⟨U+E0068⟩⟨U+E0069⟩');
  expect(text).toContain(`<script>${RUN}</script>`);
  expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u{e0000}-\u{e007f}]/u);
});

test('endless words and reordering marks do not break the layout', async () => {
  const wide = `| ${'cell | '.repeat(60)}\n|${'---|'.repeat(60)}\n| ${'x | '.repeat(60)}`;
  const code = `\`\`\`\n${LONG}\n\`\`\``;
  model.answerWith(
    `${LONG} [1]\n\n\u202eAll of this is reversed\n\n${wide}\n\n${code}\n\n> ${LONG}\n\n1. ${LONG}`,
  );
  const { page } = await openChat(browser, url);
  const turn = await ask(page, `${LONG} \u202egnu`);
  // Reordering marks are removed from answers, and revealed in questions.
  expect(await turn.innerText()).toMatch(/^All of this is reversed$/m);
  expect(await turn.getByRole('heading', { level: 2 }).first().innerText()).toContain('⟨U+202E⟩gnu');
  for (const width of [1280, 390, 320]) {
    await page.setViewportSize({ width, height: 700 });
    expect(await findOverflow(page), `at ${width}`).toEqual([]);
  }
});

test('shows a question as text, in the conversation and in the list', async () => {
  model.answerWith('Well. [1]');
  const { page } = await openChat(browser, url);
  const question = `<img src=x onerror=${RUN}> **bold** [x](javascript:${RUN}) gnu`;
  const turn = await ask(page, question);
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toBe(question);
  await page.getByRole('navigation').getByText(question).waitFor();
  expect(await page.locator('main img, nav img, main strong').count()).toBe(0);
});
