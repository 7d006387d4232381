/*
 * PostgreSQL keeps no text with a NUL, and no JSON with half a character. Doors refuse both where somebody can mend it;
 * what comes past them, such as the words of another server, is kept with U+FFFD in its place. Nothing that is stored
 * has either, so that nothing is found by them.
 */

const replacement = '\ufffd'

/** The parameters of a statement as PostgreSQL takes them; `json` are the places of those that are JSON. */
export function storable(
  parameters: readonly unknown[],
  json: readonly number[],
): readonly unknown[] {
  let fit: unknown[] | undefined
  for (const [place, value] of parameters.entries()) {
    if (typeof value !== 'string') continue
    const mended = json.includes(place) ? withoutEscapes(value) : withoutNul(value)
    // Nearly all are as they have to be.
    if (mended === value) continue
    fit ??= [...parameters]
    fit[place] = mended
  }
  return fit ?? parameters
}

const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', replacement) : text

// JSON.stringify writes these as escapes. A backslash that is itself escaped begins none of them.
const escapes = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g

const withoutEscapes = (json: string): string =>
  !json.includes('\\u')
    ? json
    : json.replace(escapes, (found) => (found === '\\\\' ? found : replacement))
