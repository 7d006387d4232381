import type { AccountBilling } from '../billing/index.js'
import { type Clock, hourMs } from '../clock/index.js'
import { findContact } from '../contacts/index.js'
import { blockedAmong } from '../deliveries/index.js'
import { findSenderDomain } from '../domains/index.js'
import { acceptEmail, type EmailDeps } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import { listTeam } from '../people/index.js'
import type { Rule } from '../rules/index.js'
import { countPeople } from '../segments/index.js'
import { noteCampaignTest } from '../stats/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { stranger } from '../templates/index.js'
import { findTopic } from '../topics/index.js'
import { nextOfAudience } from './audience.js'
import { renderFor } from './content.js'
import { type AudienceCount, countAudience } from './count-audience.js'
import { type BroadcastInput, checkBroadcast } from './create.js'
import type { Audience } from './whom.js'

export interface AudiencePreview {
  recipientCount: number
  /** How many people there are in all, and why some of them are not mailed. */
  fit: number
  notMailed: Omit<AudienceCount, 'fit' | 'reachable' | 'erased'>
  /** Masked addresses of some of them. */
  sample: string[]
  note: string
}

const sampleSize = 5
const perPage = 250
// Where the beginning of a list is suppressed the sample may be short; the count is complete.
const mostPages = 20

/** The people whom a campaign would reach now; throws a 404 for list and topic, a 409 for an archived topic. */
export async function previewAudience(read: Read, audience: Audience): Promise<AudiencePreview> {
  const { accountId, topicId } = audience
  if (topicId !== null) await findTopic(read, accountId, topicId)
  const counted = await countAudience(read, audience)
  const { fit, reachable: recipientCount, erased: _, ...notMailed } = counted
  const sample: string[] = []
  let cursor = ''
  let isOver = false
  for (let page = 0; !isOver && page < mostPages && sample.length < sampleSize; page++) {
    const { reachable, after, done } = await nextOfAudience(read, audience, cursor, perPage)
    for (const { email } of reachable.slice(0, sampleSize - sample.length))
      sample.push(masked(email))
    cursor = after
    isOver = done
  }
  return { recipientCount, fit, notMailed, sample, note }
}

/**
 * A preview of the people behind a number of a report that has no segment yet: counted by their rule, from a sample
 * where the account has many. Throws a 400 where they are combined with others, as nobody knows who is in both.
 */
export async function previewPeople(
  { store: { read }, clock }: { store: { read: Read }; clock: Clock },
  accountId: string,
  { rule, isAlone }: { rule: Rule; isAlone: boolean },
): Promise<AudiencePreview> {
  if (!isAlone) {
    const message =
      'audience: these people are counted together with others, or by a topic, once they are a segment: make a draft with this audience, then ask again'
    throw new ApiError('validation_error', message)
  }
  const {
    count,
    mailable,
    sample,
    erased: _,
    ...notMailed
  } = await countPeople({ read, clock }, accountId, rule)
  return {
    recipientCount: mailable,
    fit: count,
    notMailed: { ...notMailed, leftTopic: 0 },
    sample: [],
    note: sample === null ? note : `${note} About so many: counted from a sample.`,
  }
}

const note =
  'Who has unsubscribed, bounced, complained or left the topic is not counted. The list is looked at again when the campaign is dispatched.'

/** `j***@example.com`. */
const masked = (email: string) =>
  `${String.fromCodePoint(email.codePointAt(0) ?? 0)}***${email.slice(email.lastIndexOf('@'))}`

interface TestSent {
  /** The id of the email. */
  id: string
  message: string
}

// decisions.md: for an account, in any 60 minutes.
const testsAnHour = 20

/**
 * Sends a campaign to one mailbox of the account itself or of one of its people, as its recipients would get it: a
 * single marketing mail, in no campaign's figures. Throws what `createBroadcast` does except that nobody is reachable,
 * a 403 for another's mailbox, a 404 for an unknown contact `as` whom it is rendered, a 429 for one too many.
 * `alongside` is written in the same transaction.
 */
export async function sendTest(
  deps: EmailDeps,
  billing: AccountBilling,
  input: BroadcastInput & { to: string; as?: string | undefined },
  alongside: (tx: Tx, sent: TestSent) => Promise<void>,
): Promise<TestSent> {
  const { renderer } = deps
  const { read } = deps.store
  const { accountId } = billing
  const { topicId, html: written } = await checkBroadcast(deps, billing, input, { toNobody: true })
  const mailbox = parseMailbox(input.to)
  if (mailbox === undefined || !(await mayReceiveTests(read, accountId, mailbox))) {
    const message =
      'A test can only be sent to a mailbox of your own: set "to" to the address of an active team member, or to one on a verified domain of the account'
    const says =
      'A test cannot go to this mailbox, so that nobody gets mail that they did not ask for. Write the address of somebody in your team, or one at a verified domain of yours; whoever else is to see it can be invited to the team'
    throw new ApiError('forbidden', message, { slips: [{ field: 'to', says }] })
  }
  const { address } = mailbox
  const contact = await findContact(read, accountId, input.as ?? address)
  if (contact === undefined && input.as !== undefined) {
    const message = `The account has no contact with the address ${input.as.slice(0, 254)}`
    throw new ApiError('not_found', message)
  }
  const known = contact && { ...contact, metadata: JSON.stringify(contact.metadata) }
  const content = await renderFor(
    renderer,
    accountId,
    { ...input, html: written },
    known ?? { ...stranger, email: address },
  )
  const { subject, html, text } = content
  const { from, replyTo, headers, tags, attachments } = input
  const blocked = await blockedAmong(read, { accountId, type: 'marketing', topicId }, [address])
  const leaves = !blocked.has(address)
  const message = leaves
    ? 'Test campaign sent'
    : 'Nothing was sent: the mailbox is suppressed, or has left the topic'
  const { id } = await acceptEmail(
    deps,
    accountId,
    {
      from,
      to: address,
      subject,
      html,
      type: 'marketing',
      ...(text === null ? {} : { text }),
      replyTo,
      headers,
      tags,
      ...(topicId === null ? {} : { topicId }),
      ...(attachments === undefined ? {} : { attachments: [...attachments] }),
    },
    async (tx, { id }) => {
      if (leaves) await countTest(tx, deps, accountId)
      await noteCampaignTest(tx, { accountId, emailId: id, at: deps.clock.now() })
      await alongside(tx, { id, message })
    },
  )
  return { id, message }
}

/**
 * Whether a test may go to this mailbox, so that tests cannot mail strangers past all lists: people who log in to the
 * account may get it, and mailboxes on a verified domain of it (interface.md).
 */
async function mayReceiveTests(read: Read, accountId: string, { domain, address }: Mailbox) {
  if ((await findSenderDomain(read, accountId, domain))?.status === 'verified') return true
  const isTheirs = (email: string) =>
    parseMailbox(email)?.address.toLowerCase() === address.toLowerCase()
  const team = await listTeam(read, accountId)
  return team.some(({ email, isDisabled }) => !isDisabled && isTheirs(email))
}

/** Written in the mail's transaction: a refused test does not count. */
async function countTest(
  tx: Tx,
  { store, clock }: { store: Store; clock: Clock },
  accountId: string,
): Promise<void> {
  const now = clock.now()
  const recent = await tx
    .selectFrom('broadcast_tests')
    .select('sent_at')
    .where('account_id', '=', accountId)
    .where('sent_at', '>', now - hourMs)
    // A test sent while the clock was ahead does not count for the last hour.
    .where('sent_at', '<', now + hourMs)
    .orderBy('sent_at', 'desc')
    .limit(testsAnHour)
    .execute()
  const oldest = recent[testsAnHour - 1]
  if (oldest !== undefined) {
    const wait = Math.ceil((oldest.sent_at + hourMs - now) / 1_000)
    throw new ApiError(
      'rate_limit_exceeded',
      `${testsAnHour} tests were sent within the last hour; try again later`,
      {
        headers: { 'retry-after': String(Math.max(1, wait)) },
      },
    )
  }
  await tx
    .deleteFrom('broadcast_tests')
    .where('account_id', '=', accountId)
    .where((eb) => eb.or([eb('sent_at', '<=', now - hourMs), eb('sent_at', '>=', now + hourMs)]))
    .execute()
  const row = { id: store.ids.serial(), account_id: accountId, sent_at: now }
  await tx.insertInto('broadcast_tests').values(row).execute()
}
