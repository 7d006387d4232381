import type { Attachment } from '../contents/index.js'

/** A file as it is stored: `contents` has its bytes. */
export interface KeptAttachment extends Attachment {
  sha256: string
}

/** What is stored of a mail's header beside its fields. */
export interface KeptHeader {
  to: string
  references: string[]
  fields: { name: string; value: string }[]
}
