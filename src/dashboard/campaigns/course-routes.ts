import { object, optional, string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  cancelBroadcast,
  cancelRest,
  changeDraft,
  chooseVariant,
  duplicateBroadcast,
  findBroadcast,
  pauseBroadcast,
  pausedByAccount,
  resumeBroadcast,
  takeBack,
  waitsForDecision,
} from '../../broadcasts/index.js'
import { auditOf } from '../../contract/index.js'
import { check, structOf } from '../../fields/index.js'
import { redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { campaignPage } from './one.js'
import { paceFields, paceGiven } from './pace-part.js'
import { refuseUntyped } from './typed-number.js'
import { restOf } from './versions.js'

const PaceForm = type(paceFields)

/** What becomes of one that was sent, and a copy of any. */
export function coursePages(pages: AccountPages, deps: CampaignPageDeps): void {
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
  pages.post('/campaigns/:id/pause', { action, again: show }, async (visit) => {
    const found = await of(visit)
    await pauseBroadcast(whole, found, { reason: pausedByAccount, byAccount: true })
    const audit = auditOf(operations.pauseBroadcast, { target: found.id })
    return redirect(here(visit), { flash: 'Paused: nothing more leaves', audit })
  })
  pages.post('/campaigns/:id/resume', { action, again: show }, async (visit) => {
    const found = await of(visit)
    await resumeBroadcast(whole, found, { byAccount: true })
    const audit = auditOf(operations.resumeBroadcast, { target: found.id })
    return redirect(here(visit), { flash: 'It goes on', audit })
  })
  pages.post('/campaigns/:id/cancel', { action, again: show }, async (visit) => {
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
