import { releaseContents } from '../contents/index.js'
import { idsIn, type Store, storedJson, type Tx } from '../store/index.js'
import type { KeptAttachment } from './kept.js'
import { findReceived } from './mails.js'

/** Deletes a received mail with its files; resolves with a name for it afterwards. Throws a 404. */
export async function deleteReceived(
  { store }: { store: Store },
  accountId: string,
  id: string,
): Promise<{ name: string }> {
  const { row } = await findReceived(store.read, accountId, id)
  await store.write((tx) => removeReceived(tx, [id]))
  // The name has nothing of the sender, who may ask for an erasure. Nor may the log of changes copy what was deleted.
  return { name: `for ${row.recipient}` }
}

/** Deletes received mails and gives back the space of their contents. Mails that are already gone are passed over. */
export async function removeReceived(tx: Tx, ids: readonly string[]): Promise<number> {
  const rows = await tx
    .selectFrom('received')
    .leftJoin('received_texts', 'received_id', 'received.id')
    .select(['received.id', 'content_id', 'received_texts.attachments'])
    .where('received.id', 'in', idsIn(ids, 'text'))
    .execute()
  const files = rows.flatMap(
    ({ attachments }) => (storedJson(attachments) as KeptAttachment[] | null | undefined) ?? [],
  )
  const contents = [
    ...rows.map(({ content_id }) => content_id),
    ...files.map(({ content }) => content),
  ]
  await releaseContents(tx, contents)
  for (const table of ['received_headers', 'received_texts'] as const) {
    await tx.deleteFrom(table).where('received_id', 'in', idsIn(ids, 'text')).execute()
  }
  await tx.deleteFrom('received').where('id', 'in', idsIn(ids, 'text')).execute()
  return rows.length
}
