import { isoTime } from '../clock/index.js'
import { whyLeft } from '../preferences/index.js'
import {
  type CampaignFigures,
  type Figures,
  readCampaignFigures,
  shownFigures,
  sumCampaigns,
} from '../stats/index.js'
import { type Broadcast, findBroadcast, listBroadcasts } from './broadcast.js'
import { choserOf } from './choice-words.js'
import type { WhyLeftOut } from './left-out.js'
import { type MeasureDeps, unmeasuredOf } from './measured.js'
import { campaignVersions } from './shown-variants.js'

// There are drafts between the sent ones, so more are looked at than are compared.
const comparedMost = 10
const lookedAtMost = 50

/** A campaign's results. They are summed up beforehand, so that ten people cost the same as a million. */
export async function broadcastReport(deps: MeasureDeps, accountId: string, id: string) {
  const { read } = deps.store
  const broadcast = await findBroadcast(read, accountId, id)
  const figures = await readCampaignFigures(read, broadcast.id)
  return {
    ...headOf(broadcast),
    status: broadcast.status,
    endedAt: isoTime(broadcast.ended_at),
    upToDate: figures.upToDate,
    progress: progressOf(broadcast),
    leftOut: leftOutOf(broadcast),
    unmeasured: await unmeasuredOf(deps, broadcast),
    total: shownFigures(figures.total, true),
    overTime: figures.hours.map(shownHour),
    links: figures.links.map(shownLink),
    providers: figures.providers.map(({ provider, ...counts }) => ({
      provider,
      ...shownFigures(counts, true),
    })),
    reasons: figures.reasons,
    whyLeft: await whyLeft(read, broadcast.id),
    ...(await campaignVersions(read, broadcast)),
    chosenWho: await choserOf(read, broadcast),
    compared: await comparedWith(deps, broadcast),
  }
}

export type BroadcastReport = Awaited<ReturnType<typeof broadcastReport>>

const headOf = ({ id, name, subject, sent_at }: Broadcast) => ({
  id,
  name,
  subject,
  sentAt: isoTime(sent_at),
})

/** Its mails by their present state; each mail has one. */
function progressOf(broadcast: Broadcast) {
  const { recipients, waiting, delivered, relayed, bounced, failed } = broadcast
  const { suppressed, cancelled } = broadcast
  return { recipients, waiting, delivered, relayed, bounced, failed, suppressed, cancelled }
}

/** How many of its audience got no mail when mails were made, by reason. */
const leftOutOf = (one: Broadcast): Record<WhyLeftOut, number> => ({
  unsubscribed: one.out_unsubscribed,
  bounced: one.out_bounced,
  complained: one.out_complained,
  suppressed: one.out_suppressed,
  leftTopic: one.out_topic,
})

const shownHour = (row: CampaignFigures['hours'][number]) => ({
  at: isoTime(row.at),
  mails: row.mails,
  delivered: row.delivered + row.relayed,
  bounced: row.bounced_hard + row.bounced_soft,
  deferred: row.deferred,
  opened: row.opened,
  openedUnique: row.opened_unique,
  openedByMachines: row.opened_machine,
  clicked: row.clicked,
  clickedUnique: row.clicked_unique,
  clickedByMachines: row.clicked_machine,
  unsubscribed: row.unsubscribed,
  complained: row.complained + row.complained_unproved,
})

const shownLink = (row: CampaignFigures['links'][number]) => ({
  number: row.number,
  url: row.url,
  people: row.people,
  clicked: row.clicked,
  clickedByMachines: row.clicked_machine,
})

/** The ten campaigns that were sent before it, with their shares. */
async function comparedWith(deps: MeasureDeps, { account_id, id }: Broadcast) {
  const { read } = deps.store
  const found = await listBroadcasts(read, account_id, { limit: lookedAtMost, before: id })
  const sent = found.filter(({ sent_at }) => sent_at !== null).slice(0, comparedMost)
  const sums = await sumCampaigns(
    read,
    sent.map((one) => one.id),
  )
  const shown = sent.map(async (one) => {
    const counts = sums.get(one.id)
    return {
      ...headOf(one),
      recipients: one.recipients,
      unmeasured: await unmeasuredOf(deps, one),
      rates: counts === undefined ? noRates : shownFigures(counts, true).rates,
    }
  })
  return await Promise.all(shown)
}

const noRates: Figures['rates'] = {
  delivery: null,
  bounce: null,
  complaint: null,
  unsubscribe: null,
  open: null,
  click: null,
}
