import { attachmentsOf, readContent } from '../contents/index.js'
import { type Read, readExtras } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { paceOf } from './pace.js'

/** What a campaign was given, in the form of a request; without its content, audience, time and files. */
export function givenOf(broadcast: Broadcast) {
  const { replyTo, headers, tags } = readExtras(broadcast.extras) ?? {}
  return {
    from: broadcast.from_header,
    subject: broadcast.subject,
    previewText: broadcast.preview_text ?? undefined,
    topicId: broadcast.topic_id ?? undefined,
    name: broadcast.name ?? undefined,
    replyTo: broadcast.reply_to ?? (replyTo && [...replyTo]),
    headers: headers && { ...headers },
    tags: tags && [...tags],
    rate: broadcast.rate ?? undefined,
    window: paceOf(broadcast).window ?? undefined,
    archive: broadcast.archive === 1,
  }
}

/** The campaign's files in the form of a request: with their bytes, which `[attachments] max_bytes` bounds. */
export async function filesOf(read: Read, { body_id }: Broadcast): Promise<object[]> {
  const body = await read
    .selectFrom('bodies')
    .select('attachments')
    .where('id', '=', body_id)
    .executeTakeFirst()
  const files: object[] = []
  for (const { content: id, sizeBytes, ...file } of attachmentsOf(body?.attachments ?? null) ??
    []) {
    const pieces: Buffer[] = []
    for await (const piece of readContent(read, { id, sizeBytes })) pieces.push(piece)
    files.push({ ...file, content: Buffer.concat(pieces).toString('base64') })
  }
  return files
}
