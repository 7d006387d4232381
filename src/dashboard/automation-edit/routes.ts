import { isDeepStrictEqual } from 'node:util'
import { optional, string, type } from 'superstruct'
import * as operations from '../../automations/contract.js'
import {
  beginAutomation,
  discardDraft,
  duplicateAutomation,
  findAutomation,
  keepTyped,
  keepWritten,
  readWritten,
} from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { check, structOf, table } from '../../fields/index.js'
import { inPlainWords } from '../automations/refusals.js'
import { redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { sampleFrame } from '../templates/rendered.js'
import type { AutomationEditDeps } from './deps.js'
import { showEdit } from './edit.js'
import { enablePages } from './enable.js'
import { faultsNow } from './faults-now.js'
import { templateShown } from './mail-preview.js'
import { listChosen, NewForm, showNew } from './new.js'
import { simulatePages } from './simulate.js'
import { definitionOf, refuseUnreadable } from './typed.js'
import { keptOf, mendPath, typedOrKept, writable } from './written.js'

// A definition may have 256 KiB, and a form's encoding makes up to three bytes of each one.
const maxBodyBytes = 1024 * 1024

const EditForm = type({
  name: optional(string()),
  revision: optional(string()),
  outline: optional(string()),
  next: optional(string()),
  over: optional(string()),
})

/** Writing automations: they are begun, changed step by step, tried, and put in force. */
export function automationEditPages(asked: AccountPages, deps: AutomationEditDeps): void {
  const pages = inPlainWords(asked)
  beginningPages(pages, deps)
  writingPages(pages, deps)
  enablePages(pages, deps)
  simulatePages(pages, deps)
  pages.get('/automations/mail/:frame', 'automations.read', async ({ account, params, query }) => {
    const kept = await deps.rendered.find(account.id, params.frame ?? '')
    if (kept === undefined) throw new ApiError('not_found', 'This preview is over; show it again')
    return sampleFrame(kept, query)
  })
  pages.get(
    '/automations/picture/:slug',
    'automations.read',
    async ({ account, params, query }) => {
      const { mail, fault } = await templateShown(deps, account.id, params.slug ?? '', undefined)
      const made = mail && (await deps.rendered.find(account.id, mail.id))
      return sampleFrame(
        made ?? String(html`<p>${fault?.message ?? 'It cannot be shown.'}</p>`),
        query,
      )
    },
  )
}

const Name = structOf(table({ name: operations.automationName }))

function beginningPages(pages: AccountPages, deps: AutomationEditDeps): void {
  const action = 'automations.write' as const
  const show = (visit: Visit, faults: Faults) => showNew(deps, visit, faults)
  pages.get('/automations/new', action, (visit) => show(visit, noFaults))
  const making = { action, form: NewForm, again: show } as const
  pages.post('/automations/new', making, async ({ account, base, form, fields }) => {
    const { recipe = '', from = '', dateField } = form
    const name = (form.name ?? '').trim()
    if (name !== '') check({ name }, Name)
    const billing = await readBilling(deps.store.read, deps.plans, account.id)
    const made = await beginAutomation(deps, billing, {
      recipe,
      name,
      from,
      listId: listChosen(recipe, fields.get('list')),
      dateField,
    })
    return redirect(`${base}/automations/${made.id}/edit`, {
      flash: `“${made.name}” is made. Nobody enters it before you turn it on`,
      audit: auditOf(operations.createAutomation, { target: made.id }),
    })
  })
  pages.post('/automations/:id/duplicate', { action }, async ({ account, base, params }) => {
    const billing = await readBilling(deps.store.read, deps.plans, account.id)
    const found = await findAutomation(deps.store.read, account.id, params.id ?? '')
    const { isDraft } = await readWritten(deps.store.read, found)
    const made = await duplicateAutomation(deps, billing, found.id, undefined, { withDraft: true })
    const of = isDraft ? ' with what is written in the draft' : ''
    return redirect(`${base}/automations/${made.id}/edit`, {
      flash: `This is a copy${of}; nobody enters it before you turn it on`,
      audit: auditOf(operations.duplicateAutomation, { target: made.id }),
    })
  })
}

/** The result of saving; `kept` is undefined where nothing was changed. */
function savedWords(
  kept: { isDraft: boolean } | undefined,
  hasFaults: boolean,
  leadsToCheck: boolean,
): string {
  const says =
    kept === undefined ? 'Nothing was changed' : kept.isDraft ? 'Kept as a draft' : 'Saved'
  if (!hasFaults) return says
  return `${says}. What is not right yet ${leadsToCheck ? 'stands below' : 'is open below'}`
}

function writingPages(pages: AccountPages, deps: AutomationEditDeps): void {
  const { read } = deps.store
  const action = 'automations.write' as const
  const show = (visit: Visit, faults: Faults) => showEdit(deps, visit, faults)
  pages.get('/automations/:id/edit', action, (visit) => show(visit, noFaults))
  const drafting = { action, form: EditForm, reads: true, maxBodyBytes, again: show } as const
  pages.post('/automations/:id/edit/draft', drafting, async (visit) => {
    refuseUnreadable(visit.fields)
    const automation = await writable(read, visit)
    const typed = await typedOrKept(deps, visit, automation)
    const { name, revision } = typed
    const definition = definitionOf(typed)
    const before = await keptOf(read, automation)
    const isSame = name === before.name && isDeepStrictEqual(definition, definitionOf(before))
    // A form without a revision is not the editor's. Opening a step writes nothing, as script keeps what is typed.
    const isLook = visit.fields.get('looks') !== undefined
    const kept =
      revision === '' || isSame || isLook
        ? revision
        : await keepTyped(deps, visit.account.id, automation.id, { name, definition, revision })
    return await showEdit(deps, { ...visit, form: undefined }, noFaults, kept)
  })
  const saving = { action, form: EditForm, maxBodyBytes, again: show } as const
  pages.post('/automations/:id/edit', saving, async (visit) => {
    const { account, base, form } = visit
    refuseUnreadable(visit.fields)
    const automation = await writable(read, visit)
    const typed = await typedOrKept(deps, visit, automation)
    const { name } = check({ name: typed.name }, Name)
    const billing = await readBilling(read, deps.plans, account.id)
    const definition = definitionOf(typed)
    const given = { name, definition, revision: typed.revision }
    const before = await keptOf(read, automation)
    const isSame =
      !before.isDraft &&
      typed.revision === before.revision &&
      name === before.name &&
      isDeepStrictEqual(definition, definitionOf(before))
    const kept = isSame ? undefined : await keepWritten(deps, billing, automation.id, given)
    const { faults } = await faultsNow(deps, billing, definition)
    const here = `${base}/automations/${automation.id}`
    const mend = mendPath(here, typed, faults)
    return redirect(form.next === 'enable' ? `${here}/enable` : mend, {
      flash: savedWords(kept, faults.length > 0, form.next === 'enable'),
      ...(kept !== undefined && {
        audit: auditOf(operations.updateAutomation, { target: automation.id }),
      }),
    })
  })
  pages.post('/automations/:id/edit/discard', { action, again: show }, async (visit) => {
    const automation = await writable(read, visit)
    await discardDraft(deps, visit.account.id, automation.id)
    return redirect(`${visit.base}/automations/${automation.id}/edit`, {
      flash: 'The draft is thrown away',
      audit: auditOf(operations.updateAutomation, { target: automation.id }),
    })
  })
}
