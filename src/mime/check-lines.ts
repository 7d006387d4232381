const CR = 13
const LF = 10

/** RFC 5322 §2.1.1: octets of a line without its CRLF. */
export const longestLine = 998

/** Checks a message while it arrives, in chunks of any size. */
export interface LineCheck {
  /** The fault so far, e.g. `a bare LF in line 3`; undefined without one. */
  feed(chunk: Buffer): string | undefined
  /** The fault of the whole message. */
  end(): string | undefined
}

/**
 * Finds what no relay carries unchanged: a bare CR or LF (the means of smuggling, CVE-2023-51764), a
 * NUL, an overlong line. It uses a few native searches a line.
 */
export function makeLineCheck(): LineCheck {
  let line = 1
  let openBytes = 0
  let endsWithCr = false
  let fault: string | undefined

  const look = (chunk: Buffer): string | undefined => {
    const nul = chunk.indexOf(0)
    let from = 0
    for (let at = chunk.indexOf(LF); ; at = chunk.indexOf(LF, from)) {
      const end = at === -1 ? chunk.length : at
      if (nul !== -1 && nul < end) return `a NUL in line ${line}`
      if (endsWithCr && at !== 0 && from === 0 && chunk.length > 0)
        return `a bare CR in line ${line}`
      const cr = chunk.indexOf(CR, from)
      // A CR at the end of the chunk may be half of a CRLF.
      if (cr !== -1 && cr < end - 1) return `a bare CR in line ${line}`
      openBytes += end - from
      if (at === -1) {
        endsWithCr = end === from ? endsWithCr : chunk[end - 1] === CR
        return openBytes > longestLine + 1 ? tooLong() : undefined
      }
      const isEnded = at === 0 ? endsWithCr : chunk[at - 1] === CR
      if (!isEnded) return `a bare LF in line ${line}`
      if (openBytes - 1 > longestLine) return tooLong()
      endsWithCr = false
      openBytes = 0
      line++
      from = at + 1
    }
  }
  const tooLong = () => `over ${longestLine} octets in line ${line}`

  return {
    feed: (chunk) => {
      fault ??= look(chunk)
      return fault
    },
    end: () => fault ?? (endsWithCr ? `a bare CR in line ${line}` : undefined),
  }
}
