const FENCE = /^\s*(`{3,}|~{3,})/;
/** `!!! note "Title"`, `??? tip`, `=== "Tab"`: what belongs to it is indented by four below it. */
const INDENTED = /^( *)(?:!!!|\?\?\?\+?|===[!+]?)[ \t]+(?:([\w-]+)[\w -]*)?(?:"([^"]*)")?[ \t]*$/;
/** `/// note | Title`, closed by `///`. */
const BLOCK = /^( *)\/{3,}[ \t]*(?:([\w-]+)(?:[ \t]*\|[ \t]*(.*?))?)?[ \t]*$/;
const INDENT = 4;

/**
 * The admonitions, tabs and blocks of MkDocs and its extensions as plain Markdown: a title above what they hold. A
 * parser of Markdown would take what is indented for code. There are as many lines as before, so that places stay right.
 */
export function openMkdocsBlocks(source: string): string {
  if (!/^ *(?:!!!|\?\?\?|===|\/\/\/)/m.test(source)) return source;
  const lines = source.split('\n');
  /** How far the blocks that are open are indented, innermost last. */
  const open: number[] = [];
  let fence: string | null = null;
  return lines
    .map((line, index) => {
      const isBlank = line.trim() === '';
      const indent = line.length - line.trimStart().length;
      while (fence === null && !isBlank && open.length > 0 && indent < (open.at(-1) ?? 0) + INDENT)
        open.pop();
      const own = line.slice(Math.min(indent, INDENT * open.length));
      const ticks = FENCE.exec(own)?.[1] ?? null;
      if (fence !== null) {
        if (ticks?.startsWith(fence) && own.trim() === ticks) fence = null;
        return own;
      }
      if (ticks !== null) {
        fence = ticks;
        return own;
      }
      const indented = INDENTED.exec(line);
      if (indented !== null && (indented[2] ?? indented[3]) !== undefined && goesOn(lines, index)) {
        open.push(indent);
        return titleOf(own, indented[2], indented[3]);
      }
      const block = BLOCK.exec(own);
      return block === null ? own : block[2] === undefined ? '' : titleOf(own, block[2], block[3]);
    })
    .join('\n');
}

function goesOn(lines: readonly string[], index: number): boolean {
  const indent = (line: string) => line.length - line.trimStart().length;
  const next = lines.slice(index + 1).find((line) => line.trim() !== '');
  return next !== undefined && indent(next) >= indent(lines[index] ?? '') + INDENT;
}

/** On a line of its own, whatever follows: a blank line would be one too many. */
function titleOf(line: string, kind = '', title = ''): string {
  const text = title.trim() || kind.charAt(0).toUpperCase() + kind.slice(1);
  return `${line.slice(0, line.length - line.trimStart().length)}**${text}**`;
}
