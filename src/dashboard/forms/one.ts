import { renderSVG } from 'uqr'
import {
  addressOf,
  carefulUntil,
  confirmationSenders,
  findForm,
  formLimits,
  formTally,
  heldOf,
  listsThere,
  type SignupForm,
  sentName,
  stateOf,
  submissionsOf,
  wordsIn,
} from '../../forms/index.js'
import { escapeHtml } from '../../mime/index.js'
import { listTopics } from '../../topics/index.js'
import { moment } from '../format.js'
import { file, type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { FormPlaceDeps } from './deps.js'
import { formChips } from './list.js'

/** A form, how it does, and how it gets onto a page. */
interface OneFormView {
  base: string
  accountId: string
  mayWrite: boolean
  form: SignupForm
  page: string
  state: ReturnType<typeof stateOf>
  chip: (typeof formChips)[keyof typeof formChips]
  address: string
  snippet: string
  /** Where scripts send it in; empty: nowhere. */
  submissions: string
  /** From whom its confirmations come; empty: nobody gets any. */
  sender: string
  /** It names lists, and all of them are deleted. */
  isListless: boolean
  figures: { label: string; value: string }[]
  /** Empty: it is not careful. */
  carefulUntil: string
  carefulAnHour: number
  held: { reason: string; held: number }[]
  /** How many confirmations it sends at most, in words. */
  limits: readonly string[]
  faults: Faults
}

/** Why somebody got no mail, in words. */
const heldWords: Readonly<Record<string, string>> = {
  'hidden field': 'A program filled in the field that people do not see',
  network: `More than ${formLimits.networkAnHour} an hour, or ${formLimits.networkADay} a day, from one network`,
  later: 'Asked about an hour later, as several came from one network and no browser worked for it',
  domain: `More than ${formLimits.domainAnHour} an hour for addresses of one domain`,
  address: 'The address was asked already: once a day, three times in all',
  form: `The form had sent its ${formLimits.anHour} of an hour, or ${formLimits.aDay.toLocaleString('en-GB')} of a day`,
  careful: 'The form was careful, as confirmations came back',
  stopped: 'The form was stopped, and its page said so',
  suppressed: 'Nothing is sent to the address: it is suppressed',
  account: 'The account could send or take nobody then',
}

const limitsInWords: readonly string[] = [
  `From one network ${formLimits.networkAtOnce} an hour at once. The next, up to ${formLimits.networkAnHour} an hour and ${formLimits.networkADay} a day, press one more button while the browser works for a moment; without script, and by request, they get the mail about an hour later.`,
  `For one address one a day, and three before it confirms; for addresses of one domain ${formLimits.domainAnHour} an hour.`,
  `In all ${formLimits.anHour} an hour and ${formLimits.aDay.toLocaleString('en-GB')} a day.`,
]

export async function showForm(
  { store: { read }, publicUrl }: FormPlaceDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, params, now } = visit
  const form = await findForm(read, account.id, params.id ?? '')
  const address = addressOf(publicUrl, form)
  const held = await heldOf(read, form.id)
  const state = stateOf(form, now)
  const lately = await formTally(read, form.id, now)
  const until = carefulUntil(form, now)
  const offered = new Set(form.settings.topics.map((id) => id.toLowerCase()))
  const topics = offered.size === 0 ? [] : await listTopics(read, account.id)
  const figures = [
    ...(form.kind === 'page' ? [['Shown', form.shown] as const] : []),
    [form.kind === 'page' ? 'Sent in' : 'To be asked', form.sentIn],
    ['Confirmed', form.confirmed],
    ['Held back', form.heldBack],
    ['Confirmations sent today and yesterday', lately.mails],
    ['Of those bounced', lately.bounces],
    ['Called spam', lately.complaints],
  ] as const
  const view: OneFormView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    form,
    page: `${base}/forms/${form.id}`,
    state,
    chip: formChips[state],
    address,
    submissions: submissionsOf(publicUrl, form),
    sender: (await confirmationSenders(read, account.id))(form),
    isListless:
      form.kind === 'page' &&
      (await listsThere(read, account.id, form.settings.lists)).length === 0,
    snippet: snippetOf(
      form,
      address,
      topics.filter(({ id }) => offered.has(id)),
    ),
    figures: figures.map(([label, count]) => ({ label, value: count.toLocaleString('en-GB') })),
    carefulUntil: until === undefined ? '' : moment(until, now).exact,
    carefulAnHour: formLimits.carefulAnHour,
    held: held.map(({ reason, held }) => ({ reason: heldWords[reason] ?? reason, held })),
    limits: form.kind === 'page' ? limitsInWords : [],
    faults,
  }
  return page('forms/one', view, { title: form.name })
}

/** The page of one form, and its address as a picture for phones. */
export function oneFormPages(pages: AccountPages, deps: FormPlaceDeps): void {
  pages.get('/forms/:id', 'contacts.read', (visit) => showForm(deps, visit, noFaults))
  pages.get('/forms/:id/qr', 'contacts.read', async ({ account, params }) => {
    const form = await findForm(deps.store.read, account.id, params.id ?? '')
    return file(Buffer.from(renderSVG(addressOf(deps.publicUrl, form))), 'image/svg+xml')
  })
}

/** Plain HTML for any site: no script, no cookie. */
function snippetOf(
  { settings }: SignupForm,
  address: string,
  topics: readonly { id: string; name: string }[],
): string {
  const rows = settings.fields.map(({ name, label, type, required, choices = [] }) => {
    const needed = required ? ' required' : ''
    const control =
      type === 'choice'
        ? `<select name="${sentName(name)}"${needed}><option></option>${choices.map((one) => `<option>${escapeHtml(one)}</option>`).join('')}</select>`
        : `<input name="${sentName(name)}" type="${type === 'number' ? 'text" inputmode="decimal' : type}"${needed}>`
    return `  <label>${escapeHtml(label)} ${control}</label>`
  })
  // What is not ticked is not sent: `offered` says what was to be seen.
  const ticks = topics.map(
    ({ id, name }) =>
      `  <label><input type="hidden" name="offered" value="${id}"><input name="topic" type="checkbox" value="${id}" checked> ${escapeHtml(name)}</label>`,
  )
  const { email, submit } = wordsIn[settings.language]
  return [
    `<form method="post" action="${escapeHtml(address)}">`,
    `  <label>${escapeHtml(email)} <input name="email" type="email" required></label>`,
    ...rows,
    ...ticks,
    `  <label><input name="agreed" type="checkbox" value="yes" required> ${escapeHtml(settings.consent)}</label>`,
    `  <button>${escapeHtml(submit)}</button>`,
    '</form>',
  ].join('\n')
}
