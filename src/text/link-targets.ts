/** The target of a Markdown link to a web page, with the brackets around it. */
const TARGET = /\]\(https?:\/\/[^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)/g;

/** Replaces link targets by spaces of the same length: they are shown, but neither indexed nor embedded. */
export function blankLinkTargets(text: string): string {
  return text.includes('](http') ? text.replace(TARGET, (target) => ' '.repeat(target.length)) : text;
}
