import { maxSubjectBytes } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import {
  mergeInto,
  mergePieces,
  mergeValues,
  type Renderer,
  stranger,
  subjectLine,
} from '../templates/index.js'
import type { AudienceMember } from './audience.js'
import type { Broadcast } from './broadcast.js'

/** A member's subject line, which every list of mails shows; it is made together with the mail. */
export type Subjects = (
  broadcast: Pick<Broadcast, 'id' | 'account_id' | 'subject'>,
  member: AudienceMember | typeof stranger,
) => Promise<string>

// The renderer needs a body beside the subject.
const noBody = { key: null, liquid: '-' }

/** Renders a line of a campaign for somebody; undefined where it makes none, as of an empty one. */
export const makeLines =
  ({ renderer }: { renderer: Renderer }) =>
  async (
    { id, accountId, liquid }: { id: string; accountId: string; liquid: string },
    member: AudienceMember | typeof stranger,
  ): Promise<string | undefined> => {
    const outcome = await renderer.render({
      accountId,
      // Versions of a campaign have their own subjects.
      subject: { key: `${id} ${liquid}`, liquid },
      html: noBody,
      text: null,
      variables: JSON.stringify(mergeValues(member)),
      strict: false,
    })
    if (outcome.kind === 'unavailable') throw new ApiError('service_unavailable', outcome.cause)
    return outcome.kind === 'rendered' ? outcome.rendered.subject : undefined
  }

/** Merges simple subjects by hand, and leaves others to the renderer. */
export function makeSubjects({ renderer }: { renderer: Renderer }): Subjects {
  const lines = makeLines({ renderer })
  return async ({ id, account_id: accountId, subject }, member) => {
    const rendered = (whom: typeof member) => lines({ id, accountId, liquid: subject }, whom)
    const pieces = mergePieces(subject)
    if (pieces?.length === 1) return subject
    const merged = pieces && mergeInto(pieces, mergeValues(member))
    if (merged !== undefined) {
      const line = subjectLine(merged)
      if (line !== '' && Buffer.byteLength(line) <= maxSubjectBytes) return line
    } else {
      const line = await rendered(member)
      if (line !== undefined) return line
    }
    // The contact's data make no valid subject: then it is that for somebody about whom nothing is known.
    return (await rendered(stranger)) ?? subject
  }
}
