import { Readable } from 'node:stream'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { maybe, structOf, table, words } from '../../fields/index.js'
import * as operations from '../../suppression/contract.js'
import {
  importSuppressions,
  type LineFault,
  type SuppressionImportCounts,
  type SuppressionReason,
  type SuppressionScope,
} from '../../suppression/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { SuppressionPageDeps } from './deps.js'
import { reasonChoices, scopeChoices } from './view.js'

/** Both forms. */
interface AddView {
  base: string
  accountId: string
  /** The address from a page that offers to add one. */
  email: string
  reasons: typeof reasonChoices
  scopes: typeof scopeChoices
  faults: Faults
}

/** The result of a file, with the lines that could not be read. */
interface ImportedView extends SuppressionImportCounts {
  base: string
  filename: string
  isTrial: boolean
  lines: LineFault[]
  /** How many more lines have faults. */
  left: number
}

const common = { ...operations.given, reason: operations.reason }
const AddForm = structOf(table({ emails: words(), ...common }))
const ImportForm = structOf(table({ ...common, trial: maybe(words()) }))

// Enough for a list of 100,000 addresses.
const maxFileBytes = 8 * 1024 * 1024
// How many faults of a file a page has room for.
const mostFaults = 100

/** Adds typed addresses, and a file from another service or from an export. */
export function addPages(pages: AccountPages, deps: SuppressionPageDeps): void {
  const viewOf = ({ account, base, query }: Visit, faults: Faults): AddView => {
    const choices = { reasons: reasonChoices, scopes: scopeChoices }
    return { base, accountId: account.id, email: query.get('email') ?? '', faults, ...choices }
  }
  const showAdd = async (visit: Visit, faults: Faults): Promise<PageAnswer> =>
    page('suppression/add', viewOf(visit, faults), { title: 'Add addresses' })
  const showImport = async (visit: Visit, faults: Faults): Promise<PageAnswer> =>
    page('suppression/import', viewOf(visit, faults), { title: 'Import a list' })
  pages.get('/suppression/new', 'suppression.write', (visit) => showAdd(visit, noFaults))
  pages.get('/suppression/import', 'suppression.write', (visit) => showImport(visit, noFaults))

  const adding = { action: 'suppression.write', form: AddForm, again: showAdd } as const
  pages.post('/suppression/new', adding, async ({ account, base, form }) => {
    const { emails, ...how } = form
    // If one of them is wrong none is taken, and the form comes back with all of them.
    const trial = await read(deps, account.id, emails, { ...how, isTrial: true })
    const [wrong] = trial.lines
    if (wrong !== undefined) throw badAddresses(`Line ${wrong.line}: ${wrong.fault}`)
    if (trial.added + trial.known === 0) throw badAddresses('Expected an address on each line')
    const { added, known } = await read(deps, account.id, emails, how)
    const there = known === 0 ? '' : `; ${known} already there`
    const flash = `${added === 1 ? '1 address' : `${added} addresses`} added${there}`
    const audit = auditOf(operations.addSuppression, { detail: { added, known, ...how } })
    return redirect(`${base}/suppression`, { flash, audit })
  })

  const importing = {
    ...({ action: 'suppression.write', form: ImportForm, again: showImport } as const),
    maxBodyBytes: maxFileBytes,
  }
  pages.post('/suppression/import', importing, async ({ account, base, form, fields }) => {
    const file = fields.file('file')
    if (file === undefined || file.bytes.length === 0) {
      const message = 'Choose a file that is not empty'
      throw new ApiError('validation_error', message, { status: 422, fields: { field: 'file' } })
    }
    const { trial, ...how } = form
    // A trial reads the whole file and writes nothing.
    const isTrial = trial !== undefined
    const done = await read(deps, account.id, file.bytes, { ...how, isTrial })
    const { lines, ...counts } = done
    const view: ImportedView = {
      base,
      filename: file.filename,
      isTrial,
      ...counts,
      lines,
      left: counts.faults - lines.length,
    }
    const detail = { file: file.filename.slice(0, 200), ...counts, ...(isTrial && { trial: true }) }
    const audit = auditOf(operations.importSuppressions, { detail })
    return page('suppression/imported', view, { title: 'The import', audit })
  })
}

/** What holds for all addresses of one list. */
interface How {
  reason: SuppressionReason
  scope?: SuppressionScope | undefined
  detail?: string | undefined
  isTrial?: boolean
}

/** Reads a list as `posthorn suppression import` does; with its first faults. */
async function read(
  deps: SuppressionPageDeps,
  accountId: string,
  list: string | Buffer,
  how: How,
): Promise<SuppressionImportCounts & { lines: LineFault[] }> {
  const lines: LineFault[] = []
  const onFault = (fault: LineFault) => {
    if (lines.length < mostFaults) lines.push(fault)
  }
  const counts = await importSuppressions(deps, accountId, Readable.from(pieces(list)), {
    ...how,
    onFault,
  })
  return { ...counts, lines }
}

/** In small pieces: what is parsed at once keeps everybody else waiting. */
function* pieces(list: string | Buffer): Generator<Buffer> {
  const bytes = Buffer.from(list)
  for (let at = 0; at < bytes.length; at += 16_384) yield bytes.subarray(at, at + 16_384)
}

const badAddresses = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'emails' } })
