import { object, optional, string, type } from 'superstruct'
import { readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  blocksOf,
  changeDraft,
  createBroadcast,
  findBroadcast,
  htmlOf,
  makeNotice,
} from '../../broadcasts/index.js'
import { isRecent } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { type Form, formWith } from '../../http/index.js'
import { blockDeedPages } from '../blocks/deed-pages.js'
import { savedOrKept, type UnfinishedDocument } from '../blocks/finished.js'
import type { TypedDocument } from '../blocks/form.js'
import { pageWithOpen } from '../blocks/open-cards.js'
import { withPictureWords } from '../blocks/picture-words.js'
import { file, type PageAnswer, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { calendarPage } from './calendar.js'
import { coursePages } from './course-routes.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { editPage } from './edit.js'
import { versionPages } from './edit-versions.js'
import { filesAfter, maxFilesBytes } from './files.js'
import { CampaignForm, maxBodyBytes, oneWritingMs } from './form.js'
import { campaignsPage } from './list.js'
import { campaignPage } from './one.js'
import { rehearsalPage } from './rehearse.js'
import { sendPages } from './send.js'
import { sendCampaignTest } from './test-mail.js'
import { typedDraft } from './typed-draft.js'
import { versionContentPages } from './version-content.js'

/** The page to which the button leads with which a draft was saved; `here`: the draft's own. */
function pageAfter(here: string, next: string | undefined, fields: Form): string {
  if (next === 'send' || next === 'versions') return `${here}/${next}`
  // What is kept while somebody writes is shown by the page that they have.
  if (next === 'keep') return here
  return `${pageWithOpen(here, fields)}${next === 'files' ? '#files' : ''}`
}

/** Campaigns: written, tried, looked at, sent, and what becomes of them. */
export function campaignPages(pages: AccountPages, deps: CampaignPageDeps): void {
  pages.get('/campaigns', 'campaigns.read', (visit) => campaignsPage(deps, visit))
  pages.get('/campaigns/calendar', 'campaigns.read', (visit) => calendarPage(deps, visit))
  pages.get('/campaigns/:id/rehearsal', 'campaigns.read', (visit) => rehearsalPage(deps, visit))
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
  const making = {
    action: 'campaigns.write',
    form: CampaignForm,
    maxBodyBytes: maxBodyBytes + maxFilesBytes(deps),
  } as const
  pages.post('/campaigns/new', { ...making, again: showNew }, async (visit) => {
    const { form, base, person, now } = visit
    const zone = person.timeZone ?? 'UTC'
    const billing = await billingOf(visit)
    const make = async (document: TypedDocument | undefined, rest?: UnfinishedDocument) => {
      const written = { zone, now, document }
      const { scheduledAt, ...given } = await typedDraft(deps, visit.account.id, form, written)
      const whole = {
        ...given,
        name: given.name || undefined,
        topicId: given.topicId || undefined,
        scheduledAt: scheduledAt || undefined,
      }
      const unfinished = rest && JSON.stringify(rest)
      return await createBroadcast(withExpand(deps), billing, whole, { draft: true, unfinished })
    }
    const fields = await withPictureWords(deps, visit.account.id, visit.fields)
    const { kept: made, flash } = await savedOrKept({ form, fields }, make, {
      before: null,
      saved: 'The draft is saved',
      keepsAll: true,
    })
    return redirect(pageAfter(`${base}/campaigns/${made.id}`, form.next, fields), {
      ...(flash !== undefined && { flash }),
      audit: auditOf(operations.createBroadcast, { target: made.id }),
    })
  })

  const show = async (visit: Visit, faults: Faults) => {
    const found = await findBroadcast(read, visit.account.id, visit.params.id ?? '')
    if (!visit.may('campaigns.write')) return campaignPage(deps, visit, found, faults)
    if (found.status === 'draft') return editPage(deps, visit, found, faults)
    // Somebody has sent it since its form was opened: what was typed can be a draft of its own.
    const wasTyped = visit.fields.get('from') !== undefined
    if (wasTyped) return editPage(deps, visit, undefined, noFaults, { sent: found })
    return campaignPage(deps, visit, found, faults)
  }
  pages.get('/campaigns/:id', 'campaigns.read', (visit) => show(visit, noFaults))
  pages.post('/campaigns/:id', { ...making, again: show }, async (visit) => {
    const { form, base, params, person, fields, now } = visit
    const draft = await findBroadcast(read, visit.account.id, params.id ?? '')
    const zone = person.timeZone ?? 'UTC'
    const attachments = await filesAfter(deps, draft, fields)
    const revision = Number(form.over ?? form.revision)
    const billing = await billingOf(visit)
    const change = async (document: TypedDocument | undefined, rest?: UnfinishedDocument) => {
      const written = { zone, now, document, draft }
      const typed = await typedDraft(deps, visit.account.id, form, written)
      const given = attachments === undefined ? typed : { ...typed, attachments }
      const options = { revision, unfinished: rest && JSON.stringify(rest) }
      return await changeDraft(withExpand(deps), billing, params.id ?? '', given, options)
    }
    const told = await withPictureWords(deps, visit.account.id, fields)
    const { kept: changed, flash } = await savedOrKept({ form, fields: told }, change, {
      before: blocksOf(draft),
      saved: 'Saved',
      keepsAll: true,
    })
    const isKeptOn =
      form.next === 'keep' && isRecent(draft.changed_at ?? 0, deps.clock.now(), oneWritingMs)
    const audit = auditOf(operations.updateBroadcast, { target: changed.id })
    const here = `${base}/campaigns/${changed.id}`
    // What is not finished is in no HTML that is made of the blocks.
    if (form.next === 'to-html' && changed.unfinished === null) {
      const html = await htmlOf(read, changed)
      await changeDraft(withExpand(deps), billing, changed.id, { html })
      return redirect(here, { flash: 'It is written as HTML from now on', audit })
    }
    // The same form goes on to what sends the test, which may be refused when the draft is saved.
    if (form.next === 'test') return redirect(`${here}/test`, { keepsForm: true, audit })
    return redirect(pageAfter(here, form.next, fields), {
      ...(flash !== undefined && { flash }),
      // One row says that somebody has written on it.
      audit: isKeptOn ? 'noted' : audit,
    })
  })

  pages.get('/campaigns/:id/html', 'campaigns.read', async ({ account, params }) => {
    const found = await findBroadcast(read, account.id, params.id ?? '')
    return file(await htmlOf(read, found), 'text/plain; charset=utf-8', { saveAs: 'campaign.html' })
  })

  const looking = { action: 'campaigns.write', reads: true, maxBodyBytes } as const
  blockDeedPages(pages, deps, '/campaigns/new', { looking, show: showNew })
  blockDeedPages(pages, deps, '/campaigns/:id', { looking, show })
  besideDraftPages(pages, deps, show)
}

/** What stands beside a draft's form: that it is a notice, and its tests. `show`: the draft's page. */
function besideDraftPages(
  pages: AccountPages,
  deps: CampaignPageDeps,
  show: (visit: Visit, faults: Faults) => Promise<PageAnswer>,
): void {
  const { read } = deps.store
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
  const TestForm = type({
    to: string(),
    testVersion: optional(string()),
    as: optional(string()),
  })
  const trying = {
    action: 'campaigns.write',
    form: TestForm,
    maxBodyBytes,
    again: showSaved,
  } as const
  pages.post('/campaigns/:id/test', trying, async (visit) => {
    const { base, params } = visit
    const { to, testVersion: version, as } = visit.form
    const given = { to, version, as }
    const billing = await readBilling(read, deps.plans, visit.account.id)
    const sent = await sendCampaignTest(deps, billing, params.id ?? '', given)
    return redirect(pageWithOpen(`${base}/campaigns/${params.id}`, visit.fields), {
      flash: `${sent.message}: ${to}${version === undefined ? '' : `, version ${version}`}`,
      audit: auditOf(operations.testBroadcast, { target: sent.id, detail: { to } }),
    })
  })
}
