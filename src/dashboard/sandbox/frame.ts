import { frameDocument, type MessageContent, readPictures } from '../../mime/index.js'

/** A mail's HTML as a frame shows it, with the pictures that the mail carries. */
export async function framedMail(content: MessageContent, raw: Buffer): Promise<string> {
  return frameDocument(await ownHtml(content, raw))
}

/** A mail's HTML, with the pictures that the mail carries. */
export async function ownHtml({ html = '' }: MessageContent, raw: Buffer): Promise<string> {
  return carried.test(html) ? withPictures(html, await readPictures(raw)) : html
}

// RFC 2392 §2: in an attribute that names a picture, or in CSS.
const carried = /\bcid:/i
const reference =
  /((?:src|background|poster)\s{0,9}=\s{0,9}["']?|url\(\s{0,9}["']?)cid:([^\s"'<>)]+)/gi
// Types that an `<img>` shows. SVG runs no script there.
const pictureType = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i

/** The pictures are put into the document, so that its policy need not allow any address of ours. */
export function withPictures(
  html: string,
  pictures: Awaited<ReturnType<typeof readPictures>>,
): string {
  const known = new Map(
    pictures
      .filter(({ mimeType }) => pictureType.test(mimeType))
      .map(({ contentId, mimeType, bytes }) => [
        contentId,
        `data:${mimeType};base64,${Buffer.from(bytes).toString('base64')}`,
      ]),
  )
  let room = maxEmbeddedChars
  return html.replace(reference, (whole, before: string, id: string) => {
    const data = known.get(decoded(id))
    if (data === undefined || data.length > room) return whole
    room -= data.length
    return before + data
  })
}

// A mail may refer to one picture a thousand times, and each reference would repeat its bytes.
const maxEmbeddedChars = 8_000_000

/** RFC 2392 §2: a Content-ID is percent-encoded in its URL. A badly encoded one stays as it is. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
