import { accountFace, brandOf } from '../accounts/index.js'
import { ApiError } from '../errors/index.js'
import type { Form, Page, PageRequest, Pages } from '../http/index.js'
import type { Store } from '../store/index.js'
import type { MachineSign } from '../tracking/index.js'
import type { FormDesk } from './desk.js'
import { type FormEntry, findEntry } from './entry.js'
import { findForm, listsThere, publicForm, type SignupForm } from './form.js'
import { hosted } from './hosted.js'
import type { SignupTokens } from './links.js'
import { firstPage, openSubmissions } from './open-submissions.js'
import { askedAt } from './settle-entry.js'
import { isSignedUp } from './sign-up.js'
import type { FormTallies } from './tallies.js'
import { readTyped, type SentFields, sentName } from './typed.js'
import { formPage, frameOf, gonePage, noFormPage, renderStep } from './view.js'
import { wordsIn } from './words/index.js'
import { addWorkScript, workBits, workOf } from './work.js'

export interface FormPageDeps {
  store: Store
  clock: { now(): number }
  tokens: SignupTokens
  tallies: FormTallies
  /** The sign by which a machine's request is recognised. */
  machineSign: MachineSign
  /** Undefined while the appliance starts. */
  desk: () => FormDesk | undefined
}

/** The hosted pages of forms, and the pages behind the links of their mails. */
export function formPages(pages: Pages, deps: FormPageDeps): void {
  const { read } = deps.store
  const deskOf = (): FormDesk => {
    const desk = deps.desk()
    if (desk !== undefined) return desk
    throw new ApiError('service_unavailable', 'Starting; try again in a moment')
  }
  addWorkScript(pages)
  openSubmissions(pages, deps, deskOf)
  pages.get('/f/:public', async (request) => {
    const form = await publicForm(read, request.params.public ?? '')
    if (form === undefined) return noFormPage(request)
    if (form.stoppedAt !== null) return await step(deps, form, 'closed')
    deps.tallies.shown(form.id)
    return await hosted(deps, form, undefined)
  })
  // A form on the account's own site posts here, without a cookie and a script.
  pages.post('/f/:public', { crossSite: true }, async (request) => {
    const form = await publicForm(read, request.params.public ?? '')
    if (form === undefined) return noFormPage(request)
    return await received(deps, deskOf(), form, request)
  })
  pages.get('/confirm/:token', async (request) => {
    const { token = '' } = request.params
    const entryId = deps.tokens.readConfirmation(token)
    const entry = entryId && (await findEntry(read, entryId, deps.clock.now()))
    if (!entry) return gonePage()
    const form = await findForm(read, entry.accountId, entry.formId)
    if (entry.state === 'confirmed') return await afterwards(deps, form, entry)
    if (form.settings.confirmAtOnce && (await isByPerson(deps, request, entry))) {
      return await confirmed(deps, deskOf(), entry.id)
    }
    return await step(deps, form, 'confirm', `/confirm/${token}`)
  })
  // The link is the proof; a mail program that shows the page may post it from elsewhere.
  pages.post('/confirm/:token', { crossSite: true }, async ({ params }) => {
    const entryId = deps.tokens.readConfirmation(params.token ?? '')
    return entryId === undefined ? gonePage() : await confirmed(deps, deskOf(), entryId)
  })
}

/** Decides by the rules that tell clicks of people from those of machines (`tracking/`). */
async function isByPerson(
  { store: { read }, clock, machineSign }: FormPageDeps,
  request: PageRequest,
  entry: FormEntry,
): Promise<boolean> {
  const { method, header, remoteAddress, isSecure } = request
  const arrivedAt = await askedAt(read, entry)
  const asked = { method, header, remoteAddress, isSecure, arrivedAt, now: clock.now() }
  return machineSign(asked) === undefined
}

/** The page after a confirmation. */
async function confirmed(deps: FormPageDeps, desk: FormDesk, entryId: string): Promise<Page> {
  const form = await confirmedBy(desk, entryId)
  if (form === 'later') return formPage(await laterPage(deps, entryId), 503)
  if (form === undefined) return gonePage()
  const entry = await findEntry(deps.store.read, entryId, deps.clock.now())
  if (entry === undefined) return gonePage()
  const { thanksUrl } = form.settings
  const isThere = thanksUrl !== '' && (await isSignedUp(deps.store.read, form, entry))
  return isThere ? { redirect: thanksUrl } : await afterwards(deps, form, entry)
}

/** The page for somebody who has confirmed, now or long ago: it says what holds now. */
async function afterwards(deps: FormPageDeps, form: SignupForm, entry: FormEntry): Promise<Page> {
  if (await isSignedUp(deps.store.read, form, entry)) return await step(deps, form, 'confirmed')
  return await step(deps, form, 'lapsed')
}

async function confirmedBy(desk: FormDesk, entryId: string) {
  try {
    return await desk.confirm(entryId)
  } catch (error) {
    // The account is at its ceiling, or may add nobody: that is not the visitor's fault, and may pass.
    if (error instanceof ApiError) return 'later'
    throw error
  }
}

async function laterPage({ store, clock }: FormPageDeps, entryId: string): Promise<string> {
  const entry = await findEntry(store.read, entryId, clock.now())
  const form = entry && (await findForm(store.read, entry.accountId, entry.formId))
  const { later, language } = wordsIn[form?.settings.language ?? 'en']
  return renderStep({
    language,
    title: later.title,
    logo: undefined,
    colours: undefined,
    lines: [later.line],
  })
}

/** The result of a form that somebody has sent. The next page is the same for every address. */
async function received(
  deps: FormPageDeps,
  desk: FormDesk,
  form: SignupForm,
  request: PageRequest,
): Promise<Page> {
  const { form: fields } = request
  // Told before anything is looked at, so that nobody mends a field or presses a button for nothing.
  if (form.stoppedAt !== null) {
    deps.tallies.sentIn(form.id)
    deps.tallies.held(form.id, 'stopped')
    return await step(deps, form, 'closed')
  }
  const given = givenIn(form, fields)
  const read = readTyped(form.settings, given, wordsIn[form.settings.language])
  if ('faults' in read) return await hosted(deps, form, { given, faults: read.faults })
  // People do not see this field, so a machine has filled it in.
  if ((fields.get('website') ?? '') !== '') {
    deps.tallies.sentIn(form.id)
    deps.tallies.held(form.id, 'hidden field')
    return await step(deps, form, 'sent')
  }
  const sentStamp = fields.get('stamp') ?? ''
  const { verdict, page } = deps.tokens.readStamp(form.publicId, sentStamp)
  if (verdict !== 'good') {
    const stamp = deps.tokens.stamp(form.publicId, page || pageOf(request))
    const own = new Set(['stamp', 'website', 'work', 'slow'])
    const hidden = [...fields.entries()].filter(([name]) => !own.has(name))
    const which = verdict === 'quick' ? 'checkAgain' : 'check'
    return await step(deps, form, which, `/f/${form.publicId}`, [...hidden, ['stamp', stamp]])
  }
  const { remoteAddress: network } = request
  const work = { stamp: sentStamp, number: fields.get('work') ?? '' }
  const hasWorked = desk.hasWorked(form, given.email, work)
  const atOnce = hasWorked || desk.mayAtOnce(form, network)
  // A browser that can work is asked to. Without script the button leads on, and the mail comes an hour later.
  if (!atOnce && fields.get('slow') !== 'yes') {
    const hidden = [...fields.entries()].filter(([name]) => name !== 'website' && name !== 'work')
    return await step(deps, form, 'checkWork', `/f/${form.publicId}`, [...hidden, ['slow', 'yes']])
  }
  await desk.submit(form, { ...read, page: page || pageOf(request), network, hasWorked, atOnce })
  return await step(deps, form, 'sent')
}

/** Where the form was, as the browser says. */
const pageOf = ({ header }: PageRequest): string => firstPage([header('referer'), header('origin')])

/** A page with topics names them beside the boxes, as a browser does not send an unticked box. */
const offeredIn = (form: Form) => {
  const offered = form.all('offered')
  return { offered: offered.length + form.all('topic').length > 0 ? offered : undefined }
}

const givenIn = ({ settings }: SignupForm, form: Form): SentFields => ({
  email: form.get('email') ?? '',
  agreed: form.get('agreed') === 'yes',
  values: new Map(settings.fields.map(({ name }) => [name, form.get(sentName(name)) ?? ''])),
  topics: form.all('topic'),
  ...offeredIn(form),
})

type StepName =
  | 'check'
  | 'checkAgain'
  | 'checkWork'
  | 'sent'
  // In place of a form that has stopped: said of the form, whatever the account knows of an address.
  | 'closed'
  | 'confirm'
  | 'confirmed'
  | 'lapsed'

/** A page with one button or none. */
async function step(
  { store: { read }, clock }: FormPageDeps,
  form: SignupForm,
  which: StepName,
  action?: string,
  hidden: readonly (readonly [string, string])[] = [],
): Promise<Page> {
  const face = await accountFace(read, form.accountId)
  if (face === undefined) return gonePage()
  const words = wordsIn[form.settings.language]
  const { check, sent, confirm, confirmed, lapsed } = words
  const texts = {
    check: { title: check.title, lines: [check.line], button: check.button },
    checkAgain: { title: check.title, lines: [check.again], button: check.button },
    checkWork: { title: check.title, lines: [check.line], button: check.button },
    sent: { ...sent, button: '' },
    closed: { ...words.closed, button: '' },
    confirm: {
      title: confirm.title(face.name),
      lines: [confirm.line(face.name)],
      button: confirm.button,
    },
    confirmed: { title: confirmed.title, lines: [confirmed.line(face.name)], button: '' },
    lapsed: { title: lapsed.title, lines: [lapsed.line(face.name)], button: '' },
  }
  const { title, lines, button } = texts[which]
  const frame = frameOf(await brandOf(read, form.accountId), face.logoId, {
    language: words.language,
    title,
  })
  const asksWork = which.startsWith('check') ? workOf(form, clock.now()) : undefined
  const work = which === 'checkWork' ? workBits : asksWork
  const html = renderStep({
    ...frame,
    lines,
    link: which === 'lapsed' ? await wayBack(read, form, lapsed.again) : undefined,
    ...(action !== undefined && { form: { action, button, hidden, work, working: words.working } }),
  })
  const status = which === 'closed' ? 503 : 200
  return formPage(html, status, which === 'confirm' ? leadingTo(form.settings.thanksUrl) : {})
}

/** A link back to the form, where it still works. */
async function wayBack(read: Store['read'], form: SignupForm, text: string) {
  const { kind, archivedAt, stoppedAt, publicId, settings } = form
  if (kind !== 'page' || archivedAt !== null || stoppedAt !== null) return undefined
  const isEmpty =
    settings.lists.length > 0 &&
    (await listsThere(read, form.accountId, settings.lists)).length === 0
  return isEmpty ? undefined : { href: `/f/${publicId}`, text }
}

/** A browser follows a form's redirect only to where the page allows it (CSP 3 §6.4.1). */
function leadingTo(url: string): Record<string, string> {
  if (url === '') return {}
  const policy = `default-src 'self'; base-uri 'none'; form-action 'self' ${new URL(url).origin}; frame-ancestors 'none'; object-src 'none'`
  return { 'Content-Security-Policy': policy }
}
