import { shownCount } from '../../amounts/index.js'
import { linesOf, listImports, maxImportBytes } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { structOf, table, uuidForm, words } from '../../fields/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { stateChips } from '../tasks/state-chips.js'
import type { ImportPageDeps } from './deps.js'
import { pastedCsv } from './pasted.js'

/** Where a file is taken in, and the last imports. */
interface ImportsView {
  base: string
  accountId: string
  mayWrite: boolean
  /** Which list the link named that led here, as a query; else empty. */
  onto: string
  imports: {
    page: string
    filename: string
    chip: (typeof stateChips)['done']
    rows: string
    begun: Moment
  }[]
  faults: Faults
}

const shownImports = 20
// A page of addresses; more are a file.
const maxPastedBytes = 512 * 1024
// Around the file stand the form's other parts.
const formBytes = 64 * 1024

const PasteForm = structOf(table({ emails: words() }))

/** `/contacts/import`: a file, or addresses that somebody pastes, become a draft. */
export function importPages(pages: AccountPages, deps: ImportPageDeps): void {
  const { imports, store } = deps
  const show = async (visit: Visit, faults: Faults): Promise<PageAnswer> => {
    const { account, base, now, query } = visit
    const tasks = await listImports(store.read, account.id, shownImports)
    const view: ImportsView = {
      base,
      accountId: account.id,
      mayWrite: visit.may('contacts.write'),
      onto: ontoOf(query),
      imports: tasks.map((task) => ({
        page: `${base}/contacts/import/${task.id}`,
        filename: task.detail.filename,
        chip: stateChips[task.state],
        rows: shownCount(linesOf(task).total),
        begun: moment(task.begunAt, now),
      })),
      faults,
    }
    return page('lists/import', view, { title: 'Import people' })
  }
  pages.get('/contacts/import', 'contacts.read', (visit) => show(visit, noFaults))

  // Nothing is changed by a draft: what it does is in the audit log once somebody has it imported.
  const common = { action: 'contacts.write', reads: true, again: show } as const
  const uploading = { ...common, upload: 'file', maxBodyBytes: maxImportBytes + formBytes }
  pages.post('/contacts/import', uploading, async ({ account, base, person, request, query }) => {
    const { filename = '', bytes } = await request.upload()
    if (filename === '') throw noFile()
    const name = filename.toWellFormed().slice(0, 255)
    const given = { filename: name, pieces: bytes, startedBy: person.id }
    const id = await imports.keep(account.id, given)
    return redirect(`${base}/contacts/import/${id}${ontoOf(query)}`)
  })

  const pasting = { ...common, form: PasteForm, maxBodyBytes: maxPastedBytes }
  pages.post('/contacts/import/paste', pasting, async ({ account, base, person, form, query }) => {
    const pieces = inOne(pastedCsv(form.emails))
    const given = { filename: 'Pasted addresses', pieces, startedBy: person.id }
    const id = await imports.keep(account.id, given)
    return redirect(`${base}/contacts/import/${id}${ontoOf(query)}`)
  })
}

const ontoOf = (query: URLSearchParams): string => {
  const list = query.get('list') ?? ''
  return uuidForm.test(list) ? `?${new URLSearchParams({ list })}` : ''
}

async function* inOne(text: string) {
  yield Buffer.from(text)
}

const noFile = () =>
  new ApiError('validation_error', 'Choose a file', { status: 422, fields: { field: 'file' } })
