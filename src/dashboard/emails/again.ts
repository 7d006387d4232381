import { type Attachment, attachmentsOf } from '../../contents/index.js'
import { readEmail } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { asTags } from '../../templates/index.js'

/** A mail's content, as the form of a new mail takes it. */
export interface ContentToSend {
  values: {
    from: string
    to: string
    subject: string
    format: 'html'
    content: string
    again: string
  }
  attachments: Attachment[]
}

/** What a mail says before anything is merged, tracked or signed. Throws for a mail that cannot be sent again. */
export async function contentToSend(
  read: Read,
  accountId: string,
  id: string,
): Promise<ContentToSend> {
  const email = await readEmail(read, accountId, id)
  const body = await read
    .selectFrom('emails')
    .innerJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['bodies.html', 'bodies.attachments', 'broadcast_id', 'automation_step_id'])
    .where('emails.id', '=', id)
    .executeTakeFirst()
  // Mails of campaigns and automations share a body with places that are filled in for each recipient, and with a
  // footer.
  const isShared = body?.broadcast_id != null || body?.automation_step_id != null
  if (body === undefined || body.html === null || isShared) {
    const why = email.contentDeleted
      ? 'Its content was deleted'
      : isShared
        ? 'It is one of many of a campaign or automation'
        : 'A program has written it as a whole'
    throw new ApiError('conflict', `This mail cannot be sent again from here: ${why}`)
  }
  const { from, to, subject } = email
  const content = asTags(body.html)
  return {
    values: { from, to, subject, content, format: 'html', again: id },
    attachments: attachmentsOf(body.attachments) ?? [],
  }
}
