import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';

/*
 * Converts the output of `tmux capture-pane -e -p` to an SVG picture of the terminal.
 *
 *   tmux capture-pane -t chat -e -p | npx node scripts/draw-terminal.ts "citeloop chat" > docs/chat.svg
 */

const COLUMN = 8.43;
const ROW = 19;
const LEFT = 18;
const TOP = 62;
const COLOURS: Readonly<Record<string, string>> = {
  31: '#ff7a85',
  32: '#7fd88f',
  33: '#e6c274',
  34: '#82aaff',
  35: '#c792ea',
  36: '#7fdbe8',
};
const PLAIN = '#d6deeb';
const DIM = '#7f8fa6';

interface TextStyle {
  colour: string;
  isBold: boolean;
  isDim: boolean;
  isUnderlined: boolean;
}

const defaultStyle: TextStyle = { colour: PLAIN, isBold: false, isDim: false, isUnderlined: false };

function applyCodes(style: TextStyle, codes: readonly string[]): TextStyle {
  let now = style;
  for (const code of codes) {
    if (code === '' || code === '0') now = defaultStyle;
    else if (code === '1') now = { ...now, isBold: true };
    else if (code === '2') now = { ...now, isDim: true };
    else if (code === '4') now = { ...now, isUnderlined: true };
    else if (code === '22') now = { ...now, isBold: false, isDim: false };
    else if (code === '24') now = { ...now, isUnderlined: false };
    else if (code === '39') now = { ...now, colour: PLAIN };
    else now = { ...now, colour: COLOURS[code] ?? now.colour };
  }
  return now;
}

function drawLine(line: string, row: number, start: TextStyle): { shapes: string; style: TextStyle } {
  let style = start;
  let column = 0;
  let shapes = '';
  for (const [, codes, words = ''] of `\x1b[m${line}`.matchAll(/\x1b\[([\d;]*)m([^\x1b]*)/g)) {
    if (codes !== '' || column > 0) style = applyCodes(style, (codes ?? '').split(';'));
    for (const { 0: word, index } of words.matchAll(/\S+(?: \S+)*/g)) {
      const x = LEFT + (column + index) * COLUMN;
      const attributes = [
        `fill="${style.isDim ? DIM : style.colour}"`,
        ...(style.isBold ? ['font-weight="700"'] : []),
        ...(style.isUnderlined ? ['text-decoration="underline"'] : []),
        `textLength="${(word.length * COLUMN).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`,
      ];
      shapes += `<text x="${x.toFixed(1)}" y="${TOP + row * ROW}" ${attributes.join(' ')}>${escapeXml(word)}</text>\n`;
    }
    column += words.length;
  }
  return { shapes, style };
}

function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const title = process.argv[2] ?? 'citeloop';
const shown = (await text(process.stdin)).replace(/\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)/g, '').trimEnd();
const lines = shown.split('\n');
const columns = Math.max(...lines.map((line) => stripVTControlCharacters(line).length));
const width = Math.ceil(LEFT * 2 + columns * COLUMN);
const height = TOP + lines.length * ROW;
let style = defaultStyle;
let shapes = '';
lines.forEach((line, row) => {
  const next = drawLine(line, row, style);
  shapes += next.shapes;
  style = next.style;
});
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<rect width="${width}" height="${height}" rx="10" fill="#101724"/><circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
<text x="${width / 2}" y="24" fill="${DIM}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" text-anchor="middle">${escapeXml(title)}</text>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" xml:space="preserve">
${shapes}</g>
</svg>
`,
);
