import { enums, object, optional, string } from 'superstruct'
import { readContent } from '../../contents/index.js'
import { verifiedDomains } from '../../domains/index.js'
import {
  acceptBatch,
  acceptEmail,
  type Idempotency,
  makeIdempotency,
  maxBatch,
  mostDaysAhead,
  type SendInput,
  sendBody,
} from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf } from '../../fields/index.js'
import type { Remember } from '../../http/index.js'
import { escapeHtml, parseMailbox } from '../../mime/index.js'
import { simulatorDomain } from '../../simulator/index.js'
import { listTemplates, type Samples } from '../../templates/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { api, call } from '../shell/api-call.js'
import { checkAll, type Faults } from '../shell/faults.js'
import { onceKey } from '../shell/once.js'
import type { AccountPages } from '../shell/page.js'
import type { SameBy } from '../shell/parts.js'
import type { Visit } from '../shell/visit.js'
import { typedMoment } from '../typed-moment.js'
import { contentToSend } from './again.js'
import type { EmailPageDeps, NewMailDeps } from './deps.js'
import { mailIdOf } from './mail.js'
import { type ChosenTemplate, chosenTemplate, typedFor, variablesIn } from './template-fields.js'

const Form = object({
  from: string(),
  to: string(),
  subject: optional(string()),
  template: optional(string()),
  /** The template whose fields and preview the form had. */
  shown: optional(string()),
  copies: optional(enums(['each', 'together'])),
  format: optional(enums(['text', 'html'])),
  content: optional(string()),
  scheduledAt: optional(string()),
  again: optional(string()),
})
type NewMail = (typeof Form)['TYPE']

/** The form, filled in from the address, from the mail to send again, or with what was typed. */
export interface NewMailView {
  base: string
  faults: Faults | undefined
  values: Partial<NewMail>
  templates: string[]
  chosen: ChosenTemplate | undefined
  /** Addresses to try it with, and what happens to mail to them. */
  tries: { label: string; action: string }[]
  /** The files of the mail that is sent again. */
  attachments: string[]
  noDomain: boolean
  /** The time zone in which the time is typed. */
  zone: string
  same: SameBy
}

// Nobody would look through a longer list.
const maxTemplates = 200
// A body may have 2 MiB, and a form's encoding makes up to three of each byte.
const maxFormBytes = 8 * 1024 * 1024

/** A form that sends one mail, by the same acceptance as the API's. */
export function newMailPages(pages: AccountPages, deps: NewMailDeps): void {
  pages.get('/emails/new', 'emails.send', (visit) => showForm(deps, visit))

  const again = (visit: Visit, faults: Faults) => showForm(deps, visit, faults)
  const form = { action: 'emails.send' as const, form: Form, maxBodyBytes: maxFormBytes, again }
  // A button posts the whole form to put one of the addresses to try into it, so that what was typed stays, also
  // without script.
  const fill = { action: 'emails.send', reads: true, maxBodyBytes: maxFormBytes } as const
  pages.post('/emails/new/fill', fill, (visit) => showForm(deps, visit))
  const idempotency = makeIdempotency(deps)
  pages.post('/emails/new', form, async ({ account, person, form, base, fields, now }) => {
    // From here on the mail goes the API's way: the same checks, limits, quota and answers to repeats.
    const to = addressesIn(form.to)
    const variables = form.template && typedFor(fields, form.template)
    const given = { ...form, to, variables: variables || undefined }
    const body = await bodyOf(deps, { account, person, now }, given)
    const key = onceKey(fields)
    const asked = { accountId: account.id, key }
    if (to.length > 1 && form.copies !== 'together') {
      if (to.length > maxBatch) throw faultOf('to', `At most ${maxBatch} addresses at once`)
      const { ids } = await sentOnce(idempotency, asked, (remember) =>
        acceptBatch(
          deps,
          account.id,
          { items: to.map((one) => ({ ...body, to: [one] })) },
          remember,
        ),
      )
      const flash = `${ids.length} mails are queued, one for each address.`
      const detail = { to: form.to, mails: ids.length }
      return redirect(`${base}/emails`, { flash, audit: { action: 'email.send', detail } })
    }
    const { id, scheduledAt } = await sentOnce(idempotency, asked, (remember) =>
      acceptEmail(deps, account.id, body, remember),
    )
    const flash = await flashOf(deps, id, scheduledAt)
    const audit = { action: 'email.send', target: id, detail: { to: form.to } }
    return redirect(`${base}/emails/${id}`, { flash, audit })
  })
}

/** What was sent, now or before by the same form. The key also depends on the form's content. */
async function sentOnce<Sent>(
  idempotency: Idempotency,
  { accountId, key }: { accountId: string; key: string | undefined },
  send: (remember?: Remember) => Promise<Sent>,
): Promise<Sent> {
  if (key === undefined) return await send()
  const asked = { account: { accountId }, key, fingerprint: key }
  const { body } = await idempotency.once(asked, async (remember) => ({
    status: 200,
    body: await send(remember),
  }))
  return body as Sent
}

/**
 * Tells at once what happened to the mail: one whose recipients are all suppressed is accepted and goes to nobody.
 */
async function flashOf({ store }: EmailPageDeps, id: string, scheduledAt: unknown) {
  const mail = await store.read
    .selectFrom('emails')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirst()
  if (mail?.status === 'suppressed')
    return 'Nobody gets the mail: all of its recipients are suppressed.'
  return scheduledAt === undefined ? 'The mail is queued.' : 'The mail is scheduled.'
}

/** The form. The later one wins in `values`: what was typed, over what was sent, over the default. */
async function showForm(deps: NewMailDeps, visit: Visit, faults?: Faults): Promise<PageAnswer> {
  const { store } = deps
  const { account, base, query, person } = visit
  const { read } = store
  const [domain] = await verifiedDomains(read, account.id)
  const againId = query.get('again') ?? String(faults?.values.again ?? '')
  const source =
    againId === ''
      ? undefined
      : await contentToSend(read, account.id, mailIdOf({ params: { id: againId } }))
  const templates = await listTemplates(read, account.id, { limit: maxTemplates })
  const template = visit.fields.get('template') ?? query.get('template') ?? ''
  const chosen =
    template === ''
      ? undefined
      : await chosenTemplate(deps, visit, template, typedFor(visit.fields, template))
  const fill = (to: string) => `${base}/emails/new/fill?${new URLSearchParams({ to })}`
  const simulated = (name: string) => `${name}@${simulatorDomain}`
  const view: NewMailView = {
    base,
    faults,
    noDomain: domain === undefined,
    zone: person.timeZone ?? 'UTC',
    values: {
      from: domain === undefined ? '' : `${account.name} <hello@${domain}>`,
      to: person.email,
      format: 'text',
      copies: 'each',
      // In this order: the mail that is sent again, what was typed, and what the address asks for.
      ...source?.values,
      ...typedIn(visit.fields),
      ...asked(query),
    },
    chosen,
    templates: templates.map(({ slug }) => slug),
    tries: [
      { label: 'yourself', action: fill(person.email) },
      // The beginnings of the simulator's addresses.
      ...['delivered', 'bounced', 'deferred', 'complained'].map((name) => ({
        label: `${name}@…`,
        action: fill(simulated(name)),
      })),
    ],
    attachments: source?.attachments.map(({ filename }) => filename) ?? [],
    same: { api: [call(api.emails.sendEmail)] },
  }
  return page('emails/new-mail', view, { title: 'New mail' })
}

/** What was typed so far into the form. */
const typedIn = (fields: Visit['fields']): Record<string, string> =>
  Object.fromEntries(
    [
      'from',
      'to',
      'subject',
      'template',
      'format',
      'content',
      'copies',
      'scheduledAt',
      'again',
    ].flatMap((name) => {
      const value = fields.get(name)
      return value ? [[name, value]] : []
    }),
  )

/** The fields that links from other pages fill in. */
function asked(query: URLSearchParams): Record<string, string> {
  const names = ['from', 'to', 'subject', 'template', 'again']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = query.get(name)
      return value ? [[name, value.slice(0, 1_000)]] : []
    }),
  )
}

/** The form as a client of the API would write it. All faults are told at once, each at its field. */
async function bodyOf(
  { store, attachments: { maxBytes } }: EmailPageDeps,
  { account, person, now }: Pick<Visit, 'account' | 'person' | 'now'>,
  form: Omit<NewMail, 'to'> & { to: string[]; variables: Samples | undefined },
): Promise<SendInput> {
  const accountId = account.id
  const zone = person.timeZone ?? 'UTC'
  const { from, to, subject, template, content, format, scheduledAt, variables } = form
  const isEmpty = template === undefined && content === undefined
  const hasTemplates =
    isEmpty && (await listTemplates(store.read, accountId, { limit: 1 })).length > 0
  const refuseUnseen = () => {
    if (isEmpty) {
      throw faultOf(
        'content',
        hasTemplates ? 'Write something, or choose a template' : 'Write something',
      )
    }
    // Nobody should send what they have not seen, and each template asks for different variables.
    if (template !== undefined && variables === undefined) {
      throw faultOf('template', 'This is what the template makes. Look at it, then send')
    }
  }
  const source =
    form.again === undefined
      ? undefined
      : await contentToSend(store.read, accountId, mailIdOf({ params: { id: form.again } }))
  const attachments = await filesOf(store.read, source?.attachments ?? [], maxBytes)
  // A missing text is told by a message of its own.
  const written = content ?? '-'
  const given = {
    from,
    to,
    ...(template === undefined && { subject }),
    ...(template === undefined
      ? { html: format === 'html' ? written : htmlOf(written) }
      : { template, variables: variablesIn(variables ?? {}) }),
    ...(template === undefined && format === 'text' && { text: written }),
    ...(attachments.length > 0 && { attachments }),
  }
  let leavesAt: string | undefined
  checkAll(
    [
      () => void check(given, structOf(sendBody)),
      () => refuseNoAddress('from', from),
      ...to.map((one) => () => refuseNoAddress('to', one)),
      refuseUnseen,
      () => {
        if (scheduledAt === undefined) return
        leavesAt = typedMoment('scheduledAt', scheduledAt, { zone, now, mostDays: mostDaysAhead })
      },
    ],
    ([first]) => (first === 'html' || first === 'text' ? 'content' : undefined),
  )
  const when = leavesAt === undefined ? {} : { scheduledAt: leavesAt }
  return check({ ...given, ...when }, structOf(sendBody))
}

function refuseNoAddress(field: 'from' | 'to', typed: string): void {
  if (parseMailbox(typed) !== undefined) return
  throw faultOf(field, `“${typed.slice(0, 100)}” is no email address, such as ann@example.org`)
}

const faultOf = (field: string, message: string) =>
  new ApiError('validation_error', message, {
    fields: { field },
    slips: [{ field, says: message }],
  })

const addressesIn = (text: string) =>
  text
    .split(/[,\n]/)
    .map((address) => address.trim())
    .filter((address) => address !== '')

/** The paragraphs of the text as HTML. */
const htmlOf = (text: string) =>
  text
    .trim()
    .split(/\n{2,}/)
    .map((part) => `<p>${escapeHtml(part).replaceAll('\n', '<br>')}</p>`)
    .join('\n')

/** The attachments of a mail that is sent again, read from `contents/`, where their bytes are stored once. */
async function filesOf(
  read: Parameters<typeof readContent>[0],
  attachments: Awaited<ReturnType<typeof contentToSend>>['attachments'],
  maxBytes: number,
) {
  const total = attachments.reduce((bytes, { sizeBytes }) => bytes + sizeBytes, 0)
  // Checked before any is read: together they may not fit into memory.
  if (total > maxBytes) {
    throw new ApiError(
      'validation_error',
      'The attachments of that mail are larger than is allowed now',
    )
  }
  const files = []
  for (const { content, sizeBytes, filename, contentType, contentId, disposition } of attachments) {
    const pieces: Buffer[] = []
    for await (const piece of readContent(read, { id: content, sizeBytes })) pieces.push(piece)
    const base64 = Buffer.concat(pieces).toString('base64')
    files.push({
      filename,
      contentType,
      content: base64,
      disposition,
      ...(contentId !== undefined && { contentId }),
    })
  }
  return files
}
