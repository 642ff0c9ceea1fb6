// The few forms of Markdown that agents write, as elements. HTML in it stays text.

import { h, isWebLink } from '../dom';

/** Code, bold, italic, link: in this order at each place. */
const INLINE = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?!\w)|\[([^\]\n]+)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>"')\]]+)/g;

export function markdown(source: string): DocumentFragment {
  const out = document.createDocumentFragment();
  const lines = source.split('\n');
  let at = 0;
  const take = (fits: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && fits(lines[at] ?? '')) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const fence = /^\s*(```|~~~)/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (fence !== undefined) {
      at += 1;
      const code = take((it) => !it.trimStart().startsWith(fence));
      at += 1;
      out.append(h('pre', { tabindex: '0' }, h('code', {}, code.join('\n'))));
    } else if (heading !== null) {
      at += 1;
      out.append(h('p', { class: 'md-heading' }, ...inline(heading[2] ?? '')));
    } else if (isItem(line)) {
      out.append(list(take((it) => isItem(it) || /^\s{2,}\S/.test(it))));
    } else if (line.startsWith('>')) {
      const quoted = take((it) => it.startsWith('>')).map((it) => it.replace(/^>\s?/, ''));
      out.append(h('blockquote', {}, ...inline(quoted.join('\n'))));
    } else if (line.trim() === '') {
      at += 1;
    } else {
      const words = take((it) => it.trim() !== '' && !isItem(it) && !/^(#{1,6}\s|\s*(```|~~~)|>)/.test(it));
      out.append(h('p', {}, ...inline(words.join('\n'))));
    }
  }
  return out;
}

function isItem(line: string): boolean {
  return /^\s*([-*+]|\d+[.)])\s+/.test(line);
}

function list(lines: string[]): HTMLElement {
  const ordered = /^\s*\d/.test(lines[0] ?? '');
  const items: string[] = [];
  for (const line of lines) {
    if (isItem(line)) items.push(line.replace(/^\s*([-*+]|\d+[.)])\s+/, ''));
    else items.push(`${items.pop() ?? ''}\n${line.trim()}`);
  }
  return h(ordered ? 'ol' : 'ul', {}, ...items.map((it) => h('li', {}, ...inline(it))));
}

function inline(source: string): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of source.matchAll(INLINE)) {
    if (match.index > at) nodes.push(document.createTextNode(source.slice(at, match.index)));
    at = match.index + match[0].length;
    const [whole, code, bold, italic, label, target, bare] = match;
    if (code !== undefined) nodes.push(h('code', {}, code));
    else if (bold !== undefined) nodes.push(h('strong', {}, ...inline(bold)));
    else if (italic !== undefined) nodes.push(h('em', {}, ...inline(italic)));
    else nodes.push(link(label ?? bare ?? whole, target ?? bare ?? '', whole));
  }
  if (at < source.length) nodes.push(document.createTextNode(source.slice(at)));
  return nodes;
}

/** A link to the web, which shows where it leads; anything else stays as it was written. */
function link(label: string, target: string, whole: string): Node {
  if (!isWebLink(target)) return document.createTextNode(whole);
  return h('a', { href: target, title: target, target: '_blank', rel: 'noopener noreferrer' }, label);
}
