import type { Code, Root } from 'mdast';
import { visit } from 'unist-util-visit';

/** A comment of nothing but notes to the highlighter: `// [!code ++]`, `<!-- [!code focus] -->`. */
const SHIKI =
  /[ \t]*(?:\/\/|\/\*|\{\/\*|<!--|--|[#;%])[ \t]*(?<notes>(?:\[!code [^\]\n]+\][ \t]*)+)(?:\*\/\}?|-->)?[ \t]*$/;
/** Where Twoslash begins or ends what it hides. */
const CUT = /^[ \t]*\/\/[ \t]*---cut(?:-(?:before|after|start|end))?---[ \t]*$/;
/** What else is for Twoslash alone: a question to the compiler below a line, and its options. */
const TWOSLASH = /^[ \t]*\/\/[ \t]*(?:\^[?|]|@(?!filename\b)[a-zA-Z]+(?::.*)?)[ \t]*$/;

/** Takes out of code what is written in comments for the programs that typeset it: no reader of the page sees it. */
export function dropCodeNotations(tree: Root): void {
  visit(tree, 'code', (node) => {
    if (/---cut|\[!code |\^[?|]|@/.test(node.value)) node.value = withoutNotations(node);
  });
}

function withoutNotations({ value, meta }: Code): string {
  const isTwoslash = /\btwoslash\b/.test(meta ?? '');
  // A line that is to be taken out says what there was before, where others say what comes for it.
  const isDiff = /\[!code \+\+/.test(value);
  return value
    .split('\n')
    .filter((line) => !CUT.test(line) && !(isTwoslash && TWOSLASH.test(line)))
    .filter((line) => !(isDiff && /\[!code --/.test(SHIKI.exec(line)?.groups?.notes ?? '')))
    .flatMap((line) => {
      const code = line.replace(SHIKI, '');
      return code === '' && line !== '' ? [] : [code];
    })
    .join('\n');
}
