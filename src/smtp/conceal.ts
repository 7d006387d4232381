const shown = '(credentials)'

/**
 * Takes a password out of what a server says, in the clear or in Base64: some servers quote the
 * line that they refuse, and a reply goes into the log, the queue and the API.
 */
export function concealer(user: string, pass: string): (line: string) => string {
  if (pass === '') return (line) => line
  const inClear = new RegExp(pass.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'gi')
  const sent = [`\0${user}\0${pass}`, `${user}\0${user}\0${pass}`, pass].map((text) =>
    Buffer.from(text).toString('base64'),
  )
  const tells = (word: string) =>
    decodings(word).some((text) => text.includes(pass)) ||
    // A piece of the secret, where the server cut or folded the line.
    (word.length >= 8 && sent.some((whole) => whole.includes(word)))
  return (line) =>
    line.replace(inClear, shown).replace(base64Word, (word) => (tells(word) ? shown : word))
}

/** In either alphabet of RFC 4648. */
const base64Word = /[\w+/-]{4,}={0,2}/g

/** A word decoded from each of the four places at which its Base64 may begin. */
function decodings(word: string): string[] {
  return [0, 1, 2, 3].map((from) => Buffer.from(word.slice(from), 'base64').toString())
}
