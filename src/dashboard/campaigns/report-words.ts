import { counted, shownCount } from '../../amounts/index.js'
import { type BroadcastReport, type Who, whoWords } from '../../broadcasts/index.js'
import { type Html, html } from '../shell/html.js'
import { linkTo } from '../shell/listing.js'
import type { Tone } from '../shell/parts.js'

/** How a campaign stands. */
export const standingChips: Record<BroadcastReport['status'], { text: string; tone: Tone }> = {
  draft: { text: 'draft', tone: 'none' },
  scheduled: { text: 'scheduled', tone: 'none' },
  sending: { text: 'sending', tone: 'doubt' },
  paused: { text: 'paused', tone: 'bad' },
  sent: { text: 'sent', tone: 'good' },
  cancelled: { text: 'cancelled', tone: 'none' },
  failed: { text: 'failed', tone: 'bad' },
}

const classWords: Record<string, string> = {
  'bad-mailbox': 'The mailbox does not exist',
  'bad-domain': 'The domain takes no mail',
  disabled: 'The mailbox is switched off',
  'mailbox-full': 'The mailbox is full',
  'recipient-rate': 'The mailbox got too much mail at once',
  busy: 'The server was busy',
  throttled: 'The server limits how much it takes from us',
  blocked: 'The server blocks us',
  'sender-authentication': 'The sender could not be proved (SPF, DKIM, DMARC)',
  content: 'The server refused the content',
  'too-large': 'The mail is too large',
  routing: 'The server does not take mail for this address',
  protocol: 'The server did not follow the protocol',
  unreachable: 'The server could not be reached',
  unknown: 'Refused without a known reason',
  other: 'Refused without a known reason',
  suppressed: 'Not mailed: left, bounced or complained',
  'given-up': 'No server took it in time',
}

/** The class of a refusal in words; others are named as they are. */
export const reasonWords = (of: string) => classWords[of] ?? of.replaceAll('-', ' ')

export const share = (rate: number | null) =>
  rate === null ? '–' : `${(rate * 100).toFixed(rate > 0 && rate < 0.001 ? 2 : 1)} %`

/** A share of what may not be measured: then nobody knows it. */
export const shareKnown = (rate: number | null, unmeasured: string | null) =>
  unmeasured === null ? share(rate) : '–'

/** A number that leads to the people behind it. */
export const peopleCell = (text: string, href: string): Html => html`<a href="${href}">${text}</a>`

/** A number of the report that leads to its people. */
export interface ReportNumber {
  label: string
  value: string
  /** Its share. */
  rate: string | undefined
  /** What machines did beside it. */
  machines: string | undefined
  /** Undefined: nobody knows who they are. */
  href: string | undefined
}

/** What `unreached` is called where others were never sent it. */
export const didNotArrive = 'Sent, but did not arrive'

/** The numbers at the top, each with its share and the people behind it. */
export function numbersOf(
  { total, progress, unmeasured }: BroadcastReport,
  { here, notSent }: { here: string; notSent: number },
): ReportNumber[] {
  const { rates } = total
  const one = (
    who: Who,
    value: number,
    rate: number | null | undefined,
    machines?: number,
  ): ReportNumber => ({
    label: whoWords[who].label,
    value: shownCount(value),
    rate: rate === undefined || rate === null ? undefined : share(rate),
    machines: machines === undefined ? undefined : `machines: ${counted(machines, 'time')}`,
    href: linkTo(`${here}/people`, { who }),
  })
  const unknown = (who: Who): ReportNumber =>
    Object.assign(one(who, 0, undefined), { value: '–', rate: 'not measured', href: undefined })
  const { delivered, relayed, bounced, failed } = progress
  const unreached = bounced + failed + progress.suppressed
  // As of those that were delivered: what still waits has no end yet.
  const ended = delivered + relayed + unreached
  return [
    one('sent', delivered + relayed + bounced + failed, undefined),
    one('delivered', total.delivered + total.relayed, rates.delivery),
    unmeasured.opens === null || total.openedUnique > 0
      ? one('opened', total.openedUnique, rates.open, total.openedByMachines)
      : unknown('opened'),
    unmeasured.clicks === null || total.clickedUnique > 0
      ? one('clicked', total.clickedUnique, rates.click, total.clickedByMachines)
      : unknown('clicked'),
    one('left', total.unsubscribed, rates.unsubscribe),
    one('complained', total.complained + total.complainedUnproved, rates.complaint),
    Object.assign(
      one('unreached', unreached, ended === 0 ? null : unreached / ended),
      // Whom a cancelled rest never went out to stands beside it.
      notSent > 0 && { label: didNotArrive },
    ),
    ...(notSent === 0 ? [] : [one('not_sent', notSent, undefined)]),
  ]
}
