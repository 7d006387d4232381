import { object, optional, string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  cancelBroadcast,
  cancelRest,
  changeDraft,
  chooseVariant,
  createBroadcast,
  duplicateBroadcast,
  findBroadcast,
  htmlOf,
  makeNotice,
  pauseBroadcast,
  resumeBroadcast,
  takeBack,
  waitsForDecision,
} from '../../broadcasts/index.js'
import { isRecent } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { check, structOf } from '../../fields/index.js'
import { formWith } from '../../http/index.js'
import { blockDeedPages } from '../blocks/deed-pages.js'
import { documentIn } from '../blocks/form.js'
import { file, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { calendarPage } from './calendar.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { editPage } from './edit.js'
import { versionPages } from './edit-versions.js'
import { CampaignForm, givenBy, maxBodyBytes, oneWritingMs } from './form.js'
import { campaignsPage } from './list.js'
import { campaignPage } from './one.js'
import { paceFields, paceGiven } from './pace-part.js'
import { sendPages } from './send.js'
import { sendCampaignTest } from './test-mail.js'
import { refuseUntyped } from './typed-number.js'
import { versionContentPages } from './version-content.js'
import { restOf } from './versions.js'

const PaceForm = type(paceFields)

/** Where the button leads with which a draft is saved. */
const pageAfter: Readonly<Record<string, string>> = { send: '/send', versions: '/versions' }

/** Campaigns: written, tried, looked at, sent, and what becomes of them. */
export function campaignPages(pages: AccountPages, deps: CampaignPageDeps): void {
  pages.get('/campaigns', 'campaigns.read', (visit) => campaignsPage(deps, visit))
  pages.get('/campaigns/calendar', 'campaigns.read', (visit) => calendarPage(deps, visit))
  draftPages(pages, deps)
  versionPages(pages, deps)
  versionContentPages(pages, deps)
  sendPages(pages, deps)
  coursePages(pages, deps)
}

/** Making, changing and looking at a draft. */
function draftPages(pages: AccountPages, deps: CampaignPageDeps): void {
  const { read } = deps.store
  const billingOf = ({ account }: Pick<Visit, 'account'>) =>
    readBilling(read, deps.plans, account.id)
  const showNew = (visit: Visit, faults: Faults) => editPage(deps, visit, undefined, faults)
  pages.get('/campaigns/new', 'campaigns.write', (visit) => showNew(visit, noFaults))
  const making = { action: 'campaigns.write', form: CampaignForm, maxBodyBytes } as const
  pages.post('/campaigns/new', { ...making, again: showNew }, async (visit) => {
    const { form, base, person, fields } = visit
    const zone = person.timeZone ?? 'UTC'
    const { scheduledAt, ...given } = givenBy(form, { zone, document: documentIn(fields) })
    const whole = {
      ...given,
      name: given.name || undefined,
      topicId: given.topicId || undefined,
      scheduledAt: scheduledAt || undefined,
    }
    const options = { draft: true }
    const made = await createBroadcast(withExpand(deps), await billingOf(visit), whole, options)
    return redirect(`${base}/campaigns/${made.id}${pageAfter[form.next ?? ''] ?? ''}`, {
      ...(form.next !== 'keep' && { flash: 'The draft is saved' }),
      audit: auditOf(operations.createBroadcast, { target: made.id }),
    })
  })

  const show = async (visit: Visit, faults: Faults) => {
    const found = await findBroadcast(read, visit.account.id, visit.params.id ?? '')
    const isOpen = found.status === 'draft' && visit.may('campaigns.write')
    return isOpen ? editPage(deps, visit, found, faults) : campaignPage(deps, visit, found, faults)
  }
  pages.get('/campaigns/:id', 'campaigns.read', (visit) => show(visit, noFaults))
  pages.post('/campaigns/:id', { ...making, again: show }, async (visit) => {
    const { form, base, params, person, fields } = visit
    const draft = await findBroadcast(read, visit.account.id, params.id ?? '')
    const zone = person.timeZone ?? 'UTC'
    const given = givenBy(form, { zone, document: documentIn(fields), draft })
    const revision = Number(form.over ?? form.revision)
    const changed = await changeDraft(
      withExpand(deps),
      await billingOf(visit),
      params.id ?? '',
      given,
      { revision },
    )
    const isKeptOn =
      form.next === 'keep' && isRecent(draft.changed_at ?? 0, deps.clock.now(), oneWritingMs)
    const audit = auditOf(operations.updateBroadcast, { target: changed.id })
    const here = `${base}/campaigns/${changed.id}`
    // The same form goes on to what sends the test, which may be refused when the draft is saved.
    if (form.next === 'test') return redirect(`${here}/test`, { keepsForm: true, audit })
    return redirect(`${here}${pageAfter[form.next ?? ''] ?? ''}`, {
      ...(form.next !== 'keep' && { flash: 'Saved' }),
      ...(!isKeptOn && { audit }),
    })
  })

  pages.get('/campaigns/:id/html', 'campaigns.read', async ({ account, params }) => {
    const found = await findBroadcast(read, account.id, params.id ?? '')
    return file(await htmlOf(read, found), 'text/plain; charset=utf-8', { saveAs: 'campaign.html' })
  })

  const looking = { action: 'campaigns.write', reads: true, maxBodyBytes } as const
  blockDeedPages(pages, deps, '/campaigns/new', { looking, show: showNew })
  blockDeedPages(pages, deps, '/campaigns/:id', { looking, show })

  const NoticeForm = object({ reason: optional(string()) })
  const noticing = { action: 'campaigns.notice', form: NoticeForm, again: show } as const
  pages.post('/campaigns/:id/notice', noticing, async (visit) => {
    const { account, base, form, params } = visit
    const reason = form.reason ?? null
    const { id } = await makeNotice(deps, account.id, params.id ?? '', reason)
    return redirect(`${base}/campaigns/${id}`, {
      flash: reason === null ? 'It is a newsletter again' : 'It is a notice, and everybody gets it',
      audit: { action: 'broadcast.notice', target: id, detail: { reason: reason ?? '' } },
    })
  })

  // Its draft was saved a moment ago, so what is typed is of that one.
  const showSaved = async (visit: Visit, faults: Faults) => {
    const { revision } = await findBroadcast(read, visit.account.id, visit.params.id ?? '')
    const fields = formWith(visit.fields, new Map([['revision', String(revision)]]))
    return await show({ ...visit, fields }, faults)
  }
  const TestForm = type({ to: string(), testVersion: optional(string()) })
  const trying = {
    action: 'campaigns.write',
    form: TestForm,
    maxBodyBytes,
    again: showSaved,
  } as const
  pages.post('/campaigns/:id/test', trying, async (visit) => {
    const { base, params } = visit
    const { to, testVersion: version } = visit.form
    const given = { to, version }
    const sent = await sendCampaignTest(deps, await billingOf(visit), params.id ?? '', given)
    return redirect(`${base}/campaigns/${params.id}`, {
      flash: `${sent.message}: ${to}${version === undefined ? '' : `, version ${version}`}`,
      audit: auditOf(operations.testBroadcast, { target: sent.id, detail: { to } }),
    })
  })
}

/** What becomes of one that was sent, and a copy of any. */
function coursePages(pages: AccountPages, deps: CampaignPageDeps): void {
  const { store, plans } = deps
  const whole = withExpand(deps)
  const action = 'campaigns.write' as const
  const here = ({ base, params }: Pick<Visit, 'base' | 'params'>) =>
    `${base}/campaigns/${params.id ?? ''}`
  const of = ({ account, params }: Pick<Visit, 'account' | 'params'>) =>
    findBroadcast(store.read, account.id, params.id ?? '')

  pages.post('/campaigns/:id/duplicate', { action }, async ({ account, base, params }) => {
    const billing = await readBilling(store.read, plans, account.id)
    const { id } = await duplicateBroadcast(whole, billing, params.id ?? '')
    return redirect(`${base}/campaigns/${id}`, {
      flash: 'This is a copy: its time is not copied',
      audit: auditOf(operations.duplicateBroadcast, { target: id }),
    })
  })
  pages.post('/campaigns/:id/take-back', { action }, async (visit) => {
    const { id } = await of(visit)
    await takeBack(whole, visit.account.id, id)
    return redirect(here(visit), {
      flash: 'It is a draft again, and nothing has left',
      audit: auditOf(operations.takeBackBroadcast, { target: id }),
    })
  })
  const show = async (visit: Visit, faults: Faults) =>
    campaignPage(deps, visit, await of(visit), faults)
  const ChoiceForm = object({ key: string(), number: optional(string()) })
  const choosing = { action, form: ChoiceForm, again: show } as const
  pages.post('/campaigns/:id/choose', choosing, async (visit) => {
    const found = await of(visit)
    const { id } = found
    const { key, number = '' } = visit.form
    if (waitsForDecision(found)) refuseUntyped(restOf(found), number, 'number')
    await chooseVariant(whole, visit.account.id, { id, key })
    return redirect(here(visit), {
      flash: `Version ${key} goes to the rest`,
      audit: auditOf(operations.chooseBroadcastVariant, { target: id, detail: { version: key } }),
    })
  })
  const pacing = { action, form: PaceForm, again: show } as const
  pages.post('/campaigns/:id/pace', pacing, async (visit) => {
    const billing = await readBilling(store.read, plans, visit.account.id)
    const given = paceGiven(visit.form, visit.person.timeZone ?? 'UTC')
    check(given, structOf(operations.draftChanges))
    const { id } = await changeDraft(whole, billing, visit.params.id ?? '', given)
    const audit = auditOf(operations.updateBroadcast, { target: id })
    return redirect(here(visit), { flash: 'It leaves so from now on', audit })
  })
  const ArchiveForm = type({ archive: optional(string()) })
  pages.post(
    '/campaigns/:id/archive',
    { action, form: ArchiveForm, again: show },
    async (visit) => {
      const billing = await readBilling(store.read, plans, visit.account.id)
      const archive = Boolean(visit.form.archive)
      const { id } = await changeDraft(whole, billing, visit.params.id ?? '', { archive })
      return redirect(here(visit), {
        flash: archive ? 'Everybody can see it' : 'It is not on the public page any more',
        audit: auditOf(operations.updateBroadcast, { target: id }),
      })
    },
  )
  pages.post('/campaigns/:id/pause', { action }, async (visit) => {
    const found = await of(visit)
    await pauseBroadcast(whole, found, { reason: 'paused by the account', byAccount: true })
    const audit = auditOf(operations.pauseBroadcast, { target: found.id })
    return redirect(here(visit), { flash: 'Paused: nothing more leaves', audit })
  })
  pages.post('/campaigns/:id/resume', { action }, async (visit) => {
    const found = await of(visit)
    await resumeBroadcast(whole, found, { byAccount: true })
    const audit = auditOf(operations.resumeBroadcast, { target: found.id })
    return redirect(here(visit), { flash: 'It goes on', audit })
  })
  pages.post('/campaigns/:id/cancel', { action }, async (visit) => {
    const { id, sent_at } = await of(visit)
    const isWhole = sent_at === null
    await (isWhole ? cancelBroadcast : cancelRest)(whole, visit.account.id, id)
    const done = isWhole ? operations.cancelBroadcast : operations.cancelRestOfBroadcast
    const audit = auditOf(done, { target: id })
    return isWhole
      ? redirect(`${visit.base}/campaigns`, { flash: 'The campaign is discarded', audit })
      : redirect(here(visit), { flash: 'It is over: what had not left never will', audit })
  })
}
