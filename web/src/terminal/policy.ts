// xterm.js writes style sheets and style attributes as text, which our policy forbids: text from a
// session must never become a style. The same styles set through the style objects are allowed,
// so these two ways are led there. Loaded with the terminal, before anything of it is drawn.

const create = document.createElement.bind(document);

/**
 * What takes the place of a `<style>`: its text goes into a sheet that the document adopts until the
 * element is removed. A template, since even an empty `<style>` breaks the policy.
 */
function adoptedStyle(): HTMLElement {
  const element = create('template');
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  let text = '';
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (value: string) => {
      text = value;
      sheet.replaceSync(value);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((it) => it !== sheet);
    HTMLElement.prototype.remove.call(element);
  };
  return element;
}

document.createElement = ((name: string, options?: ElementCreationOptions) =>
  name === 'style' ? adoptedStyle() : create(name, options)) as typeof document.createElement;

const setAttribute = Element.prototype.setAttribute;

HTMLElement.prototype.setAttribute = function (this: HTMLElement, name: string, value: string): void {
  if (name === 'style') this.style.cssText = value;
  else setAttribute.call(this, name, value);
};
