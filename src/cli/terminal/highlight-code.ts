import type { Terminal } from './terminal.ts';

/** Languages with the same comments and similar keywords. */
interface LanguageFamily {
  comment: string;
  words: string;
}

const SCRIPT =
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False self begin end do then unless until module require puts nil';
const CURLY =
  'abstract any as async await auto bool boolean break case catch char class const constexpr continue default defer delete do double else enum export extends false final finally float fn for from func function go if impl implements import in int interface let long loop match mod move mut namespace new nil null nullptr number of override package private protected pub public range readonly ref return select self static std string struct super switch template this throw trait true try type typedef typename undefined unsigned use using var virtual void where while yield';
const SHELL =
  'case cd do done elif else esac eval exec exit export fi for function if in local return set source sudo then unset until while';
const QUERY =
  'add all alter and as asc begin between by case column commit create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references right rollback select set table then union unique update values view when where with';

const families: Record<string, LanguageFamily> = {
  script: { comment: '#.*', words: SCRIPT },
  curly: { comment: '\\/\\/.*|\\/\\*.*?\\*\\/', words: CURLY },
  shell: { comment: '(?<![^\\s])#.*', words: SHELL },
  query: { comment: '--.*', words: QUERY },
  data: { comment: '(?<![^\\s])#.*', words: 'true false null yes no' },
};

const languages: Record<string, keyof typeof families> = Object.fromEntries(
  Object.entries({
    script: 'python py ruby rb elixir julia nim gdscript starlark',
    curly:
      'javascript js jsx typescript ts tsx java kotlin kt scala swift go rust rs c h cpp c++ cc hpp csharp cs php dart zig json5 jsonc css scss less groovy proto',
    shell: 'bash sh shell zsh fish console powershell ps1 dockerfile docker makefile make',
    query: 'sql sqlite postgresql mysql lua haskell hs',
    data: 'json yaml yml toml ini conf properties env hcl terraform tf cmake',
  }).flatMap(([family, names]) => names.split(' ').map((name) => [name, family])),
);

const STRING = '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'|`(?:[^`\\\\]|\\\\.)*`';
const NUMBER = '(?<![\\w.])(?:0[xX][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)(?!\\w)';

/** Highlights one line of code at a time, so a printed line never changes. Strings and comments over several lines are not recognized. */
export function createCodeHighlighter(terminal: Terminal, language: string): (line: string) => string {
  const family = families[languages[language.toLowerCase()] ?? ''];
  if (family === undefined) return (line) => terminal.text(line);
  const flags = family === families.query ? 'giu' : 'gu';
  const words = `(?<![\\w$-])(?:${family.words.replaceAll(' ', '|')})(?![\\w$-])`;
  const token = new RegExp(
    `(?<string>${STRING})|(?<comment>${family.comment})|(?<number>${NUMBER})|(?<word>${words})`,
    flags,
  );
  return (line) => {
    let painted = '';
    let at = 0;
    for (const match of line.matchAll(token)) {
      const { string, comment, number } = match.groups ?? {};
      const style = string ? 'green' : comment ? 'dim' : number ? 'yellow' : 'magenta';
      painted += terminal.text(line.slice(at, match.index)) + terminal.text(match[0], style);
      at = match.index + match[0].length;
    }
    return painted + terminal.text(line.slice(at));
  };
}
