// Each signature costs a look-up and a verification; real mail has one to five.
const maxSignatures = 20
// mailauth's time grows with the square of a field's lines: 300,000 of them take it minutes.
const maxHeaderBytes = 128 * 1024
const maxHeaderLines = 2_000

/** What makes a stranger's header too costly to verify, in words; undefined: nothing. */
export function excessOf(header: string): string | undefined {
  const isTooLarge =
    header.length > maxHeaderBytes || header.split('\n', maxHeaderLines + 1).length > maxHeaderLines
  if (isTooLarge) return 'the header is too large'
  const signatures = header.match(/^dkim-signature[ \t]*:/gim)?.length ?? 0
  return signatures > maxSignatures ? 'too many signatures' : undefined
}

/** The header of a raw message, without the empty line; an octet is a character. */
export function headerOf(raw: Buffer): string {
  const end = raw.indexOf('\r\n\r\n')
  return raw.toString('latin1', 0, end === -1 ? raw.length : end)
}
