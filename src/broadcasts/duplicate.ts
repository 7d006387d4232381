import type { AccountBilling } from '../billing/index.js'
import type { EmailDeps } from '../emails/index.js'
import { readExtras, type Tx } from '../store/index.js'
import { type Broadcast, type BroadcastDeps, findBroadcast, htmlOf } from './broadcast.js'
import { blocksOf } from './content.js'
import { createBroadcast } from './create.js'
import { paceOf } from './pace.js'
import { draftVersions } from './put-variants.js'
import { stillThere, type WhomInput, whomOf } from './whom.js'

/**
 * A draft like another campaign, without its time and its files, and with what is given in place of its own. Throws a 404
 * where a list or segment of it is gone, else as `createBroadcast` does.
 */
export async function duplicateBroadcast(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  id: string,
  { audience, name, subject, alongside = async () => {} }: InPlace = {},
): Promise<Broadcast> {
  const { read } = deps.store
  const found = await findBroadcast(read, billing.accountId, id)
  const { replyTo, headers, tags } = readExtras(found.extras) ?? {}
  const blocks = blocksOf(found)
  const given = found.reply_to ?? (replyTo && [...replyTo])
  const { variants, test } = await draftVersions(read, found)
  const input = {
    audience: audience ?? (await stillThere(read, billing.accountId, whomOf(found))),
    from: found.from_header,
    subject: subject ?? found.subject,
    ...(blocks === null ? { html: await htmlOf(read, found) } : { blocks }),
    previewText: found.preview_text ?? undefined,
    topicId: found.topic_id ?? undefined,
    name: name ?? copyName(found.name ?? found.subject),
    replyTo: given,
    headers: headers && { ...headers },
    tags: tags && [...tags],
    rate: found.rate ?? undefined,
    window: paceOf(found).window ?? undefined,
    ...(variants.length > 0 && { variants, variantTest: test }),
  }
  return await createBroadcast(deps, billing, input, { draft: true, alongside })
}

interface InPlace extends Pick<WhomInput, 'audience'> {
  name?: string
  subject?: string
  /** Written with the copy. */
  alongside?: (tx: Tx, made: Broadcast) => Promise<void>
}

const copyName = (name: string) => `${[...name].slice(0, 190).join('')} (copy)`
