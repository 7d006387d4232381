import { withoutCopyTags } from './copy-tags.js'
import { mergePieces } from './merge-tags.js'

// mta.md §4.1: no control character reaches a header.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** A rendered or merged subject in the form of a header: one line. */
export const subjectLine = (text: string) => withoutCopyTags(text).replace(controls, ' ').trim()

/** Why a subject came out empty, and what to do; names the first of its tags that has no default. */
export function emptySubject(liquid: string): string {
  const tag = mergePieces(liquid)?.find((piece) => typeof piece !== 'string' && piece.required)
  if (tag === undefined || typeof tag === 'string') return 'the subject is empty'
  const name = tag.path.join('.')
  return `the subject is empty without ${name}; say what stands in for it: {{ ${name} | default: "Hello" }}`
}
