import { object, string } from 'superstruct'
import { ApiError } from '../../errors/index.js'
import {
  discardParkedReports,
  listParkedReports,
  readParkedReport,
  retryParkedReports,
} from '../../inbound/index.js'
import { file, type PageAnswer, page, redirect } from '../shell/answer.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorPageDeps } from './deps.js'

/** `/operator/parked`: bounces and complaints that cannot be filed; like `posthorn bounce parked`. */
export function parkedPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  const { read } = deps.store
  pages.get('/parked', 'operator.read', async ({ now, may }) => {
    const rows = (await listParkedReports(read)).map(
      ({ id, receivedAt, remoteAddress, recipients, fault }) => ({
        id: String(id),
        receivedAt,
        remoteAddress,
        recipients: recipients.slice(0, 200),
        fault: fault ?? 'it is going to be read again',
      }),
    )
    const view = { now, rows, mayChange: may('operator.write') }
    return page('operator/parked', view, { title: 'Parked reports', wide: true })
  })
  pages.get('/parked/:id/source', 'operator.read', async ({ params }) => {
    const raw = await readParkedReport(read, idIn(params.id))
    if (raw === undefined) throw notThere()
    // The file is saved and never shown: its HTML is by its sender, who may be anybody.
    return file(raw, 'message/rfc822', { saveAs: `report-${params.id}.eml` })
  })
  for (const name of ['retry', 'discard'] as const) {
    pages.post(
      `/parked/${name}`,
      { action: 'operator.write', form: object({ id: string() }), sudo: true },
      ({ form }) => changed(deps, name, form.id),
    )
  }
}

/** Has one report, or all of them, read again or dropped. */
async function changed(
  { store }: OperatorPageDeps,
  name: 'retry' | 'discard',
  id: string,
): Promise<PageAnswer> {
  const ids = id === 'all' ? undefined : [idIn(id)]
  const change = name === 'retry' ? retryParkedReports : discardParkedReports
  const count = await store.write((tx) => change(tx, ids))
  if (count === 0 && ids !== undefined) throw notThere()
  const reports = count === 1 ? '1 report is' : `${count} reports are`
  return redirect('/operator/parked', {
    flash: `${reports} ${name === 'retry' ? 'read again within a minute' : 'dropped'}`,
    audit: { action: `report.${name}`, target: id, detail: { changed: count } },
  })
}

/** A report's number; throws a 404. */
function idIn(given = ''): number {
  if (/^\d{1,16}$/.test(given)) return Number(given)
  throw notThere()
}

const notThere = () => new ApiError('not_found', 'No such report is parked any more')
