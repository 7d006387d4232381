import { string, type as structWith } from 'superstruct'
import { checkOpen, readBilling } from '../../billing/index.js'
import * as operations from '../../broadcasts/contract.js'
import {
  draftToPeople,
  findBroadcast,
  nameOfPeople,
  pageOfPeople,
  requireOpensMeasured,
  requireRuleOfPeople,
} from '../../broadcasts/index.js'
import { auditOf } from '../../contract/index.js'
import * as segments from '../../segments/contract.js'
import { createSegment } from '../../segments/index.js'
import { urlOfLink } from '../../stats/index.js'
import { file, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import { type CampaignPageDeps, withExpand } from './deps.js'
import { showReport } from './report.js'
import { reportMailFrame, showReportMail } from './report-mail.js'
import { peopleAsked, reportPeopleCsv, showReportPeople } from './report-people.js'

/** What became of a campaign, and the people behind each number. */
export function campaignReportPages(pages: AccountPages, deps: CampaignPageDeps): void {
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
      const broadcast = await findBroadcast(read, account.id, params.id ?? '')
      const { id } = broadcast
      const asked = peopleAsked(query)
      await requireOpensMeasured(deps, broadcast, asked)
      // Asked before the answer begins: what cannot be asked for is refused, and nothing is cut off.
      await pageOfPeople(read, id, { ...asked, limit: 1 })
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
    await requireOpensMeasured(deps, broadcast, asked)
    const rule = requireRuleOfPeople(broadcast, asked)
    const url = await urlOfLink(read, broadcast.id, asked.link)
    const name = nameOfPeople(broadcast, asked, { url })
    const { id } = await createSegment(deps, account.id, { name, rule })
    return redirect(`${base}/segments/${id}`, {
      flash: `The segment “${name}” is made; its people are looked for`,
      audit: auditOf(segments.createSegment, { target: id }),
    })
  })

  const again = { ...making, action: 'campaigns.write' } as const
  pages.post('/campaigns/:id/report/again', again, async ({ account, base, params, fields }) => {
    const billing = await readBilling(read, deps.plans, account.id)
    const broadcast = await findBroadcast(read, account.id, params.id ?? '')
    const asked = peopleAsked(fields)
    await requireOpensMeasured(deps, broadcast, asked)
    const url = await urlOfLink(read, broadcast.id, asked.link)
    const given = { asked, name: nameOfPeople(broadcast, asked, { url }) }
    const { draft, segmentId } = await draftToPeople(withExpand(deps), billing, broadcast.id, given)
    return redirect(`${base}/campaigns/${draft.id}`, {
      flash: `This is a copy for “${given.name}”: write a new subject, then check and send it`,
      audit: auditOf(operations.createBroadcast, {
        target: draft.id,
        detail: { copyOf: broadcast.id, who: asked.who, segment: segmentId },
      }),
    })
  })
}

const WhoForm = structWith({ who: string() })
