/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished, test as plainTest } from 'vitest';
import { browserForTests } from '../../support/browser.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { homeWith, serve } from './served-home.ts';
import { ask, begin, sidewaysOverflow, visit } from './visit.ts';

const RUN = 'window.ran=1';
const ELSEWHERE = 'http://elsewhere.invalid';
const LONG = 'Wildebeest'.repeat(200);
const TRICKS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${ELSEWHERE}/a.png">`,
  `<svg onload="${RUN}"><a href="javascript:${RUN}">x</a></svg>`,
  `<iframe srcdoc="<script>parent.ran=1</script>"></iframe>`,
  `<style>@import "${ELSEWHERE}/b.css"; body { display: none }</style>`,
  `<base href="${ELSEWHERE}/"><form action="${ELSEWHERE}"><button>Ask</button></form>`,
  `<meta http-equiv="refresh" content="0;url=${ELSEWHERE}">`,
  `![a picture](${ELSEWHERE}/c.png)`,
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
  `# A heading of its own <h1 id="question">x</h1>`,
].join('\n\n');
const DEFINITIONS = `[trick]: javascript:${RUN}\n[1]: ${ELSEWHERE}/one "one"`;

const DOCUMENT = `# Gnus <img src=x onerror=${RUN}> [evil](javascript:${RUN})

A gnu is a bearded antelope. Written \u202esdrawkcab\u202c on it. Hidden words: \u{e0068}\u{e0069}.

A gnu carries "<b onmouseover='${RUN}'>this</b>" and \`<script>${RUN}</script>\` on its back: <javascript:${RUN}>.

\`\`\`html
<script>${RUN}</script><img src=x onerror="${RUN}">
\`\`\`

${LONG}
`;

const browser = (await browserForTests()) as Browser;
const test = plainTest.skipIf(browser === null);
const { url, model } = browser === null ? { url: '', model: {} as ScriptedModel } : await started();

async function started() {
  const home = await homeWith({
    gnus: { 'gnus.md': DOCUMENT, '<img src=x onerror=ran=1>.md': 'A gnu is grey.' },
  });
  const scripted = await startScriptedModel();
  const flags = ['--collection', 'gnus', '--model', 'scripted', '--base-url', scripted.baseUrl];
  const served = await serve(home, ...flags, '--api', 'chat_completions', '--mode', 'lexical');
  return { url: served.ready.url, model: scripted };
}

/** Everything on the page that could lead or load somewhere. */
function leads(page: Page): Promise<string[]> {
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

test('nothing that a model says runs, loads or leads anywhere, while it is said, after that, and later', async () => {
  model.says(`A gnu is a bearded antelope. [1]\n\n${TRICKS}\n\n${DEFINITIONS}\n\n`, 'That is all.');
  const goOn = model.waits();
  onTestFinished(goOn);
  const { page } = await visit(browser, url);
  const turn = await begin(page, 'What is a gnu?');
  // Before it was checked: as the model wrote it.
  await turn.getByText('A gnu is a bearded antelope.').waitFor();
  await expectHarmless(page);
  expect(await turn.innerText()).toContain(`<script>${RUN}</script>`);
  for (const link of await turn.getByText(/a link|by reference/).all()) await link.click();
  goOn();
  await turn.getByRole('button', { name: 'Copy as Markdown' }).waitFor();
  await expectHarmless(page);
  await page.reload();
  await page.getByRole('article').getByText('A gnu is a bearded antelope').first().waitFor();
  await expectHarmless(page);
});

async function expectHarmless(page: Page): Promise<void> {
  const foreign = 'script, img, iframe, svg, style, base, form, meta, input, object, h1';
  expect(await page.getByRole('article').locator(foreign).count()).toBe(0);
  expect(await leads(page)).toEqual(['h2 id=question-1']);
  expect(await sidewaysOverflow(page)).toEqual([]);
}

test('a marker that is dressed up as a link opens the source that was checked, and nothing else', async () => {
  const dressed = [`[1](javascript:${RUN})`, `[1](${ELSEWHERE})`, '[1][trick]', '[1]'];
  model.says(
    `${dressed.map((marker) => `A gnu is a bearded antelope. ${marker}`).join('\n\n')}\n\n${DEFINITIONS}`,
  );
  const { page } = await visit(browser, url);
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

test('a link that a model gives says where it leads and stays; one that poses as a source goes when the answer is checked', async () => {
  model.says(
    'See the [handbook of gnus](https://evil.example/path) for more. [Source: gnus](https://evil.example/gnus) ',
    'Good luck.',
  );
  const goOn = model.waits();
  onTestFinished(goOn);
  const { page } = await visit(browser, url);
  const turn = await begin(page, 'Where is more about the gnu?');
  const link = turn.getByRole('link', { name: 'handbook of gnus' });
  expect(await link.getAttribute('title')).toBe('https://evil.example/path');
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  expect(await link.getAttribute('target')).toBe('_blank');
  goOn();
  await turn.getByText('⊘ unknown source').waitFor();
  expect(await link.count()).toBe(1);
  expect(await turn.locator('.answer').getByRole('link').count()).toBe(1);
});

test('a hostile document is shown as the text it is, with its hidden characters named', async () => {
  model.says('A gnu is a bearded antelope. [1] A gnu is grey. [2]');
  const { page } = await visit(browser, url);
  const turn = await ask(page, 'What is a gnu?');
  const sources = turn.getByRole('list', { name: 'Sources' }).getByRole('button');
  const shown: string[] = [];
  for (const source of await sources.all()) {
    await source.click();
    await page.getByRole('dialog').locator('.passage.cited').waitFor();
    shown.push(await page.getByRole('dialog').innerText());
    expect(await page.getByRole('dialog').locator('img, script, b, a').count()).toBe(0);
    expect(await leads(page)).toEqual(
      expect.not.arrayContaining([expect.stringMatching(/^\w+ (?:on|href|src)/)]),
    );
    expect(await sidewaysOverflow(page)).toEqual([]);
    await page.keyboard.press('Escape');
  }
  const text = shown.join('\n');
  expect(text).toContain('⟨U+E0068⟩⟨U+E0069⟩');
  expect(text).toContain(`<script>${RUN}</script>`);
  expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u{e0000}-\u{e007f}]/u);
});

test('words without end and marks that reorder neither break the page nor change its order', async () => {
  const wide = `| ${'cell | '.repeat(60)}\n|${'---|'.repeat(60)}\n| ${'x | '.repeat(60)}`;
  const code = `\`\`\`\n${LONG}\n\`\`\``;
  model.says(`${LONG} [1]\n\n\u202eAll of this is reversed\n\n${wide}\n\n${code}\n\n> ${LONG}\n\n1. ${LONG}`);
  const { page } = await visit(browser, url);
  const turn = await ask(page, `${LONG} \u202egnu`);
  // What reorders is taken out of answers, and named in what a person typed.
  expect(await turn.innerText()).toMatch(/^All of this is reversed$/m);
  expect(await turn.getByRole('heading', { level: 2 }).first().innerText()).toContain('⟨U+202E⟩gnu');
  for (const width of [1280, 390, 320]) {
    await page.setViewportSize({ width, height: 700 });
    expect(await sidewaysOverflow(page), `at ${width}`).toEqual([]);
  }
});

test('a question is shown as the text it is, in the conversation and in the list', async () => {
  model.says('Well. [1]');
  const { page } = await visit(browser, url);
  const question = `<img src=x onerror=${RUN}> **bold** [x](javascript:${RUN}) gnu`;
  const turn = await ask(page, question);
  expect(await turn.getByRole('heading', { level: 2 }).innerText()).toBe(question);
  await page.getByRole('navigation').getByText(question).waitFor();
  expect(await page.locator('main img, nav img, main strong').count()).toBe(0);
});
