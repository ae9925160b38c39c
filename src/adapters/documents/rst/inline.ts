import type { PhrasingContent } from 'mdast';

/** The definitions of a document that its inline markup refers to. */
export interface RstDefinitions {
  /** The text of `|name|`, by lower-case name. */
  substitutions: ReadonlyMap<string, string>;
  /** What `name_` refers to, by lower-case name: a URL, or a place in the document and the title there, if any. */
  targets: ReadonlyMap<string, { url: string; title: string }>;
}

const MARKUP = new RegExp(
  [
    /\\(?<escaped>[\s\S])/,
    /``(?<literal>[^\n`](?:[^`]|`(?!`))*|`(?:[^`]|`(?!`))*)``/,
    /:(?<role>[a-zA-Z][\w.+:-]*):`(?<roleText>(?:[^`\\]|\\[\s\S])+)`/,
    /(?<![\w`])_?`(?<phrase>(?:[^`\\]|\\[\s\S])+)`(?::(?<suffixRole>[a-zA-Z][\w.+-]*):|__?)?/,
    /(?<![\w*\\])\*\*(?!\s)(?<strong>(?:[^*\\]|\\[\s\S]|\*(?!\*))+?)(?<!\s)\*\*(?!\w)/,
    /(?<![\w*\\])\*(?![\s*])(?<emphasis>(?:[^*\\]|\\[\s\S])+?)(?<!\s)\*(?![\w*])/,
    /(?<![\w|])\|(?<substitution>[^\s|](?:[^|\n]*[^\s|])?)\|(?:__?)?(?![\w|])/,
    /\[(?<footnote>#?[\w.-]+|\*|#)\]_(?!\w)/,
    /(?<![\w/:.@])(?<reference>[a-zA-Z0-9](?:[\w.+-]*[a-zA-Z0-9])?)__?(?![\w])/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
  'g',
);

/** Converts emphasis, references and roles to text, and literals to code. */
export function parseRstInline(text: string, definitions: RstDefinitions): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKUP)) {
    if (match.index > from) nodes.push(textNode(text.slice(from, match.index)));
    nodes.push(...toInlineNodes(match[0], match.groups ?? {}, definitions));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(textNode(text.slice(from)));
  return nodes;
}

type Groups = Record<string, string | undefined>;

function toInlineNodes(written: string, groups: Groups, definitions: RstDefinitions): PhrasingContent[] {
  const { escaped, literal, role, roleText, phrase, suffixRole, strong, emphasis, substitution } = groups;
  if (escaped !== undefined) return [textNode(/\s/.test(escaped) ? '' : escaped)];
  if (literal !== undefined) return [{ type: 'inlineCode', value: literal }];
  if (role !== undefined && roleText !== undefined) {
    const title = definitions.targets.get(roleText.toLowerCase())?.title;
    return [title && role.endsWith('ref') ? textNode(title) : toRoleNode(role, roleText)];
  }
  if (phrase !== undefined) {
    if (suffixRole !== undefined) return [toRoleNode(suffixRole, phrase)];
    const text = removeEscapes(linkText(phrase));
    const url = /<([^<>]+)>$/.exec(phrase)?.[1] ?? definitions.targets.get(phrase.toLowerCase())?.url ?? '';
    return [linkNode(text, url)];
  }
  const inner = strong ?? emphasis;
  if (inner !== undefined) return parseRstInline(inner, definitions);
  if (substitution !== undefined) {
    return [textNode(definitions.substitutions.get(substitution.toLowerCase()) ?? written)];
  }
  if (groups.footnote !== undefined) return [textNode(formatFootnoteMarker(groups.footnote))];
  const { reference = '' } = groups;
  const url = definitions.targets.get(reference.toLowerCase())?.url;
  return [url === undefined ? textNode(written) : linkNode(reference, url)];
}

/** A Markdown footnote marker; a citation keeps its label. */
export function formatFootnoteMarker(label: string): string {
  return /^(\d+|#.*|\*)$/.test(label) ? `[^${label.replace(/^#(?=.)/, '')}]` : `[${label}]`;
}

/** The text of a role: a label in words, `text` of `text <target>`, the last name of `~package.Name`, `name` of `.name`, or a literal. */
export function toRoleNode(role: string, text: string): PhrasingContent {
  const name = role.split(':').at(-1) ?? role;
  if (/^(code|literal|math|samp|file|command|program|regexp)$/.test(name))
    return { type: 'inlineCode', value: text };
  if (name === 'pep' || name === 'rfc') return textNode(`${name.toUpperCase()} ${linkText(text)}`);
  if (/^(?:num)?ref$/.test(name) && /^[\w:.-]+$/.test(text)) return textNode(text.replace(/[-_]+/g, ' '));
  const shown = removeEscapes(linkText(text)).replace(/^!|^\.(?=[A-Za-z_])/, '');
  return textNode(shown.startsWith('~') ? (shown.slice(1).split('.').at(-1) ?? shown) : shown);
}

function linkText(phrase: string): string {
  const [, text, target = ''] = /^([\s\S]*?)\s*<([^<>]+)>$/.exec(phrase) ?? [];
  return text === undefined ? phrase : text || target;
}

function removeEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, character: string) => (/\s/.test(character) ? '' : character));
}

function textNode(value: string): PhrasingContent {
  return { type: 'text', value };
}

function linkNode(text: string, url: string): PhrasingContent {
  return { type: 'link', url, children: [{ type: 'text', value: text }] };
}
