import type { AccountBilling } from '../billing/index.js'
import type { EmailDeps } from '../emails/index.js'
import type { Tx } from '../store/index.js'
import { type Broadcast, type BroadcastDeps, findBroadcast, htmlOf } from './broadcast.js'
import { blocksOf } from './content.js'
import { createBroadcast } from './create.js'
import { filesOf, givenOf } from './given.js'
import { draftVersions, unfinishedVersionsOf } from './put-variants.js'
import { stillThere, type WhomInput, whomOf } from './whom.js'

/**
 * A draft like another campaign, without its time, and with the given changes. Throws a 404 where a list or segment of
 * it was deleted, else as `createBroadcast` does.
 */
export async function duplicateBroadcast(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  id: string,
  { audience, name, subject, content, alongside = async () => {} }: InPlace = {},
): Promise<Broadcast> {
  const { read } = deps.store
  const original = await findBroadcast(read, billing.accountId, id)
  const found = content ?? original
  const blocks = blocksOf(found)
  const { variants, test } = await draftVersions(read, found)
  const input = {
    audience: audience ?? (await stillThere(read, billing.accountId, whomOf(found))),
    ...givenOf(found),
    ...(content && { archive: false }),
    ...(blocks === null ? { html: await htmlOf(read, found) } : { blocks }),
    ...(subject !== undefined && { subject }),
    name: name ?? copyName(found.name ?? found.subject),
    attachments: await filesOf(read, original),
    ...(content === undefined && variants.length > 0 && { variants, variantTest: test }),
  }
  const unfinished = found.unfinished ?? undefined
  const unfinishedVersions = content ? undefined : await unfinishedVersionsOf(read, found)
  const options = { draft: true, alongside, unfinished, unfinishedVersions }
  return await createBroadcast(deps, billing, input, options)
}

interface InPlace extends Pick<WhomInput, 'audience'> {
  name?: string
  subject?: string
  /** The campaign as one of its versions has it: the copy has this one alone, and is not shown in public a second time. */
  content?: Broadcast
  /** Written in the transaction of the copy. */
  alongside?: (tx: Tx, made: Broadcast) => Promise<void>
}

const copyName = (name: string) => `${[...name].slice(0, 190).join('')} (copy)`
