import { string, type as structWith } from 'superstruct'
import { checkOpen, type Plans, readBilling } from '../../billing/index.js'
import { findBroadcast, ruleOfPeople } from '../../broadcasts/index.js'
import type { Clock } from '../../clock/index.js'
import { auditOf } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import * as segments from '../../segments/contract.js'
import { createSegment } from '../../segments/index.js'
import type { Store } from '../../store/index.js'
import { file, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type ReportPageDeps, showReport } from './report.js'
import { reportMailFrame, showReportMail } from './report-mail.js'
import { peopleAsked, reportPeopleCsv, showReportPeople } from './report-people.js'
import { whoWords } from './report-words.js'

/** What became of a campaign, and the people behind each number. */
export function campaignReportPages(
  pages: AccountPages,
  deps: ReportPageDeps & { store: Store; clock: Clock; plans: Plans },
): void {
  const { read } = deps.store
  pages.get('/campaigns/:id/report', 'campaigns.read', (visit) => showReport(deps, visit))
  pages.get('/campaigns/:id/report/mail', 'campaigns.read', (visit) => showReportMail(deps, visit))
  pages.get('/campaigns/:id/report/mail/html', 'campaigns.read', (visit) =>
    reportMailFrame(deps, visit),
  )
  pages.get('/campaigns/:id/report/people', 'campaigns.read', (visit) =>
    showReportPeople(deps, visit),
  )
  // A list of addresses is taken away: who may see contacts may.
  pages.get(
    '/campaigns/:id/report/people.csv',
    'contacts.read',
    async ({ account, params, query }) => {
      const { id } = await findBroadcast(read, account.id, params.id ?? '')
      const asked = peopleAsked(query)
      const audit = { action: 'broadcast.export', target: id, detail: { who: asked.who } }
      const saveAs = `campaign-${asked.who}.csv`
      return file(reportPeopleCsv(read, id, asked), 'text/csv; charset=utf-8', { saveAs, audit })
    },
  )

  const making = {
    action: 'contacts.write',
    form: WhoForm,
    again: (visit: Visit, faults: Faults) =>
      showReportPeople(deps, visit, { asked: peopleAsked(visit.fields), faults }),
  } as const
  pages.post('/campaigns/:id/report/segment', making, async ({ account, base, params, fields }) => {
    checkOpen(await readBilling(read, deps.plans, account.id))
    const broadcast = await findBroadcast(read, account.id, params.id ?? '')
    const asked = peopleAsked(fields)
    const rule = ruleOfPeople(broadcast, asked)
    if (rule === undefined) {
      throw new ApiError('validation_error', 'No segment can be made of these people')
    }
    const label = `${whoWords[asked.who].label}: ${broadcast.name ?? broadcast.subject}`
    const name = label.slice(0, mostName)
    const { id } = await createSegment(deps, account.id, { name, rule })
    return redirect(`${base}/segments/${id}`, {
      flash: `The segment “${name}” is made; its people are looked for`,
      audit: auditOf(segments.createSegment, { target: id }),
    })
  })
}

const WhoForm = structWith({ who: string() })
// As long as the names of segments may be.
const mostName = 100
