import { withoutCopyTags } from './copy-tags.js'
import { mergePieces } from './merge-tags.js'

// mta.md §4.1: no control character reaches a header.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** What was rendered or merged, as a header may have it: one line. */
export const subjectLine = (text: string) => withoutCopyTags(text).replace(controls, ' ').trim()

/** Why a subject that came out empty did, and the way out; the first of its tags that nothing stands in for is named. */
export function emptySubject(liquid: string): string {
  const tag = mergePieces(liquid)?.find((piece) => typeof piece !== 'string' && piece.required)
  if (tag === undefined || typeof tag === 'string') return 'the subject is empty'
  const name = tag.path.join('.')
  return `the subject is empty without ${name}; say what stands in for it: {{ ${name} | default: "Hello" }}`
}
