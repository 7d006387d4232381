import { findBroadcast } from '../../broadcasts/index.js'
import { file } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { type ReportPageDeps, showReport } from './report.js'
import { reportMailFrame, showReportMail } from './report-mail.js'
import { peopleAsked, reportPeopleCsv, showReportPeople } from './report-people.js'

/** What became of a campaign, and the people behind each number. */
export function campaignReportPages(pages: AccountPages, deps: ReportPageDeps): void {
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
}
