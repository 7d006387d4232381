import { storedJson } from '../store/index.js'

/** An attachment as the body that carries it names it (`bodies.attachments`, a JSON array of these). */
export interface Attachment {
  /** The id of its content. */
  content: number
  sizeBytes: number
  filename: string
  /** A media type with its parameters. */
  contentType: string
  disposition: 'attachment' | 'inline'
  /** By which the HTML names it, without angle brackets (RFC 2392). */
  contentId?: string
}

/** What a body carries; null is nothing. Undefined where the column is damaged. */
export function attachmentsOf(json: string | null): Attachment[] | undefined {
  const value = storedJson(json)
  if (value === null) return []
  return Array.isArray(value) ? value : undefined
}
