/// <reference lib="dom" />

export type Child = Node | string | null | false | undefined | readonly Child[];
export type MakeElement = (
  name: string,
  attributes?: Readonly<Record<string, string | boolean | undefined>>,
  ...children: readonly Child[]
) => HTMLElement;

/**
 * Makes elements whose content is only ever text or other elements, so that nothing from the data can become markup.
 * Runs in the page: it may use nothing from outside itself.
 */
export function elementMaker(): MakeElement {
  function append(parent: Node, child: Child): void {
    if (child === null || child === false || child === undefined) return;
    if (typeof child === 'string') parent.appendChild(document.createTextNode(child));
    else if (child instanceof Node) parent.appendChild(child);
    else for (const one of child) append(parent, one);
  }

  return (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
    }
    append(element, children);
    return element;
  };
}
