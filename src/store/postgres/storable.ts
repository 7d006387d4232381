/*
 * PostgreSQL keeps no text with a NUL, and no JSON with half a character. Both are refused at the entrance where
 * somebody can mend them; other texts, such as the words of another server, are kept with U+FFFD in their place. No
 * stored text has either, so a search for them finds nothing.
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
    // Nearly all values can be stored unchanged.
    if (mended === value) continue
    fit ??= [...parameters]
    fit[place] = mended
  }
  return fit ?? parameters
}

const withoutNul = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', replacement) : text

// JSON.stringify writes these as escapes. An escaped backslash does not begin an escape.
const escapes = /\\(?:\\|u0000|ud[89a-f][0-9a-f]{2})/g

const withoutEscapes = (json: string): string =>
  !json.includes('\\u')
    ? json
    : json.replace(escapes, (found) => (found === '\\\\' ? found : replacement))
