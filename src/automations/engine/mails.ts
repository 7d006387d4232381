import type { UpdateResult } from 'kysely'
import { type AccountBilling, countCampaignMails, countMails } from '../../billing/index.js'
import {
  blockedOfEach,
  type ClassName,
  classNameOf,
  enqueue,
  type StreamDue,
} from '../../deliveries/index.js'
import { extrasOf, insertTags, queuedToOne } from '../../emails/index.js'
import { type Mailbox, parseMailbox } from '../../mime/index.js'
import {
  type Ids,
  prepared,
  preparedInsert,
  preparedInsertAll,
  queueClass,
  type Tx,
} from '../../store/index.js'
import { bodiesOf } from '../definition/index.js'
import { type BrakeDeps, brakeMails } from './brake-mails.js'
import { typeOf } from './gate.js'
import type { PlannedMail } from './plan.js'

/** What writing mails needs; `retry` says how long (ms) deliveries of each class are tried. */
export interface MailDeps extends BrakeDeps {
  ids: Pick<Ids, 'serial' | 'uuid'>
  retry: Readonly<Record<ClassName, { readonly maxAge: number }>>
}

// automations.md, O16: transactional mail leaves as such.
const isTransactional = ({ step }: PlannedMail) => typeOf(step) === 'transactional'
const classOf = (mail: PlannedMail) =>
  isTransactional(mail) ? queueClass.transactional : queueClass.automation

/** Those of these mails whose recipients may not get them any more, by the mail's id. */
export async function refusedMails(
  tx: Tx,
  accountId: string,
  mails: readonly PlannedMail[],
): Promise<Set<string>> {
  const blocked = await blockedOfEach(
    tx,
    mails.map(({ step, to }) => ({
      accountId,
      type: typeOf(step),
      topicId: step.config.topicId?.toLowerCase(),
      addresses: [to.email],
    })),
  )
  const refused = mails.filter(({ to }, i) => blocked[i]?.has(to.email))
  return new Set(refused.map(({ id }) => id))
}

/** Counts and writes mails with their deliveries. Throws as sends do when a cap would be passed. */
export async function insertMails(
  tx: Tx,
  { ids, retry, ...brake }: MailDeps,
  billing: AccountBilling,
  mails: readonly PlannedMail[],
  now: number,
): Promise<void> {
  if (mails.length === 0) return
  const marketing = mails.filter(({ step }) => typeOf(step) === 'marketing').length
  await countMails(tx, billing, mails.length - marketing, now)
  await countCampaignMails(tx, billing, marketing, now)
  const bodies = await bodiesFor(tx, ids, mails)
  const { accountId } = billing
  await insertEmails(
    tx,
    mails.map((mail) => {
      const { id, stepId, step, subject, domainId, from, template } = mail
      const { config } = step
      const { reply_to, extras } = extrasOf(config)
      return {
        id,
        account_id: accountId,
        domain_id: domainId,
        body_id: bodies.get(template.template.versionId) ?? 0,
        from_header: config.from.trim(),
        to_list: JSON.stringify([mailboxOf(mail).address]),
        reply_to,
        subject,
        type: typeOf(step),
        topic_id: config.topicId?.toLowerCase() ?? null,
        ...queuedToOne,
        message_id: `<${id}@${from.domain}>`,
        created_at: now,
        automation_step_id: stepId,
        extras,
        template: config.template,
      }
    }),
  )
  const transactional = mails.filter(isTransactional).map(mailboxOf)
  const surge = await brakeMails(tx, { ids, ...brake }, accountId, transactional, now)
  const deliveries = mails.map((mail) => {
    const { address: recipient, domain: lane } = mailboxOf(mail)
    const expiresAt = now + retry[classNameOf(classOf(mail))].maxAge
    const { id: emailId, deliveryId: id } = mail
    const held =
      surge?.addresses.has(recipient) && isTransactional(mail)
        ? { at: now, reason: surge.reason }
        : undefined
    return {
      id,
      emailId,
      accountId,
      recipient,
      lane,
      class: classOf(mail),
      dueAt: now,
      expiresAt,
      held,
    }
  })
  await enqueue(tx, deliveries)
  await insertMerges(
    tx,
    mails.flatMap(({ id, merged }) =>
      merged === null ? [] : [{ email_id: id, variables: merged }],
    ),
  )
  await insertTags(
    tx,
    mails.map(({ id, step }) => ({ id, accountId, tags: step.config.tags ?? [] })),
  )
}

/** A mail's only recipient. */
function mailboxOf({ to }: PlannedMail): Mailbox {
  const mailbox = parseMailbox(to.email)
  // A contact was added by a valid address.
  if (mailbox === undefined) throw new Error('A contact has no address')
  return mailbox
}

/** The bodies of the mails' templates: one for all mails of a version, made with the first. */
async function bodiesFor(
  tx: Tx,
  ids: Pick<Ids, 'serial'>,
  mails: readonly PlannedMail[],
): Promise<Map<string, number>> {
  const templates = new Map(
    mails.map(({ template: { template } }) => [template.versionId, template]),
  )
  const bodies = await bodiesOf(tx, [...templates.keys()])
  for (const [versionId, { html, textBody }] of templates) {
    if (bodies.has(versionId)) continue
    const id = ids.serial()
    await insertBody(tx, { id, html, text: textBody })
    await keepBody(tx, { versionId, id })
    bodies.set(versionId, id)
  }
  return bodies
}

/** Keeps a text and HTML for all mails of a version. */
const insertBody = preparedInsert('bodies')
/** Keeps the body's id, so that the next mail of this version finds it. */
const keepBody = prepared<{ versionId: string; id: number }, UpdateResult>(
  (db, { versionId, id }) =>
    db.updateTable('template_versions').set({ body_id: id }).where('id', '=', versionId),
)

/** What the outbound threads have to hear of these mails. */
export function ringOf(accountId: string, mails: readonly PlannedMail[], now: number): StreamDue[] {
  const streams = new Map<string, StreamDue>()
  for (const mail of mails) {
    const lane = parseMailbox(mail.to.email)?.domain ?? ''
    const due = { lane, class: classOf(mail), accountId, dueAt: now }
    streams.set(`${due.class} ${lane}`, due)
  }
  return [...streams.values()]
}

const insertEmails = preparedInsertAll('emails')

/**
 * Variables beside the mail, which has the template's body: text and HTML are made when the mail is
 * sent.
 */
const insertMerges = preparedInsertAll('email_merges')
