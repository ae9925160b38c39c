import type { PhrasingContent } from 'mdast';

/** What a document defines for the use of its inline markup. */
export interface Definitions {
  /** The text of `|name|`. */
  substitutions: ReadonlyMap<string, string>;
  /** Names that `name_` may refer to, in lower case. */
  targets: ReadonlySet<string>;
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

/** Reads inline markup: emphasis, references and roles become their text, literals become code. */
export function readInline(text: string, definitions: Definitions): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKUP)) {
    if (match.index > from) nodes.push(textNode(text.slice(from, match.index)));
    nodes.push(...readMarkup(match[0], match.groups ?? {}, definitions));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(textNode(text.slice(from)));
  return nodes;
}

type Groups = Record<string, string | undefined>;

function readMarkup(written: string, groups: Groups, definitions: Definitions): PhrasingContent[] {
  const { escaped, literal, role, roleText, phrase, suffixRole, strong, emphasis, substitution } = groups;
  if (escaped !== undefined) return [textNode(/\s/.test(escaped) ? '' : escaped)];
  if (literal !== undefined) return [{ type: 'inlineCode', value: literal }];
  if (role !== undefined && roleText !== undefined) return [readRole(role, roleText)];
  if (phrase !== undefined) {
    return [
      suffixRole === undefined ? textNode(withoutEscapes(linkText(phrase))) : readRole(suffixRole, phrase),
    ];
  }
  const inner = strong ?? emphasis;
  if (inner !== undefined) return readInline(inner, definitions);
  if (substitution !== undefined) {
    return [textNode(definitions.substitutions.get(substitution.toLowerCase()) ?? written)];
  }
  if (groups.footnote !== undefined) return [textNode(footnoteMarker(groups.footnote))];
  const { reference } = groups;
  return [
    textNode(
      reference !== undefined && definitions.targets.has(reference.toLowerCase()) ? reference : written,
    ),
  ];
}

/** Footnotes are marked as in Markdown; a citation keeps its label. */
export function footnoteMarker(label: string): string {
  return /^(\d+|#.*|\*)$/.test(label) ? `[^${label.replace(/^#(?=.)/, '')}]` : `[${label}]`;
}

/** What a role shows: `text` of `text <target>`, the last name of `~package.Name`, a literal as it is. */
function readRole(role: string, text: string): PhrasingContent {
  const name = role.split(':').at(-1) ?? role;
  if (/^(code|literal|math|samp|file|command|program|regexp)$/.test(name))
    return { type: 'inlineCode', value: text };
  if (name === 'pep' || name === 'rfc') return textNode(`${name.toUpperCase()} ${linkText(text)}`);
  const shown = withoutEscapes(linkText(text)).replace(/^!/, '');
  return textNode(shown.startsWith('~') ? (shown.slice(1).split('.').at(-1) ?? shown) : shown);
}

function linkText(phrase: string): string {
  const [, text, target = ''] = /^([\s\S]*?)\s*<([^<>]+)>$/.exec(phrase) ?? [];
  return text === undefined ? phrase : text || target;
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, character: string) => (/\s/.test(character) ? '' : character));
}

function textNode(value: string): PhrasingContent {
  return { type: 'text', value };
}
