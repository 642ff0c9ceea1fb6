// Which room is looked at: `#/terminal/UUID`. The part behind `#` never reaches a server.

export interface Place {
  room: string;
  args: string[];
}

export function placeOf(hash: string): Place {
  const [room = '', ...args] = hash.replace(/^#\/?/, '').split('/').map(decode);
  return { room, args: args.filter((it) => it !== '') };
}

export function hashOf(room: string, ...args: string[]): string {
  return '#/' + [room, ...args].map(encodeURIComponent).join('/');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Goes somewhere. */
export function go(room: string, ...args: string[]): void {
  location.hash = hashOf(room, ...args);
}
