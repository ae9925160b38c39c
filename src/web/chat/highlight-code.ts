import type { Element, ElementContent, Root } from 'hast';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { SKIP, visit } from 'unist-util-visit';

const lowlight = createLowlight({
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json },
  ...{ python, rust, shell, sql, typescript, xml, yaml },
});
/** Longer code is shown without colours, since highlighting takes time. */
const LONGEST_CODE = 20_000;

/** Colours code blocks of known languages. Blocks with marked text keep their marks and are not coloured. */
export function highlightCode(tree: Root): void {
  visit(tree, 'element', (node, _index, parent) => {
    if (node.tagName !== 'code' || parent?.type !== 'element' || parent.tagName !== 'pre') return;
    const [text, ...others] = node.children;
    const language = languageOf(node);
    if (text?.type !== 'text' || others.length > 0 || text.value.length > LONGEST_CODE) return SKIP;
    if (language === null || !lowlight.registered(language)) return SKIP;
    node.children = lowlight.highlight(language, text.value).children as ElementContent[];
    return SKIP;
  });
}

function languageOf({ properties }: Element): string | null {
  const names = [properties.className].flat().map(String);
  return names.find((name) => name.startsWith('language-'))?.slice('language-'.length) ?? null;
}
