// The link in the mail stays below the 2,083 characters that old mail programs take, and the request
// for it below the 4 KB that the listener takes for a head.
const maxTargetLength = 1_400

/**
 * Where a link leads, as the browser would write it (so that it is ASCII and fits a header), or
 * undefined for one that is left alone: not the web, too long, with control characters, or to one of
 * `own` origins, whose links (unsubscribe, preferences) must work as they are.
 */
export function trackedTarget(raw: string, own: ReadonlySet<string>): string | undefined {
  const trimmed = raw.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
  if (trimmed.length > maxTargetLength || !/^https?:\/\/[^\p{Cc}]+$/iu.test(trimmed))
    return undefined
  // Not URL.canParse: once it is hot, Node 20.20 says false of `https://bücher.test/`.
  const url = URL.parse(trimmed)
  return url === null || own.has(url.origin) || !isTarget(url.href) ? undefined : url.href
}

/** Whether it is one that `trackedTarget` gives. */
export const isTarget = (target: string) =>
  target.length <= maxTargetLength && /^https?:\/\/[\x21-\x7e]+$/.test(target)
