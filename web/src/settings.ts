// What the page remembers in this browser. Never a secret: whoever can read localStorage is not
// meant to get a shell by it.

const PREFIX = 'greenroom.';

/** Reads a remembered value; `check` decides whether what is there is still of use. */
export function remembered<T>(name: string, otherwise: T, check: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null');
    return check(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Remembers a value. A full or forbidden store is no reason to fail: it is forgotten, then. */
export function remember(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows have no store.
  }
}

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
export const isString = (value: unknown): value is string => typeof value === 'string';
