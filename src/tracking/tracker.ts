import { applianceAccountId } from '../accounts/index.js'
import { keepNewest } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { placesIn } from '../mime/index.js'
import { footerPlace } from '../preferences/index.js'
import type { Store } from '../store/index.js'
import { planOf, type RewritePlan, withLinks } from './links.js'
import { outweighsPixel } from './pixel.js'
import { type DomainTracking, type Switches, trackingOf } from './switches.js'
import { type Copy, makeTrackingTokens } from './token.js'

export interface TrackerDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  publicUrl: string
  /** `tracking` of the configuration; undefined: nobody outside could reach the targets of links. */
  tracking: Switches | undefined
}

export interface TrackedMail extends Copy {
  type: 'transactional' | 'marketing'
  domainId: string
  /** The id of the stored body, which many mails may share. */
  bodyId: number | null
}

export interface Tracker {
  /** The author's HTML as this recipient gets it; the same bytes on every attempt. */
  track(mail: TrackedMail, html: string): Promise<string>
}

// How soon a switch is seen.
const switchTtlMs = 5_000
const maxDomains = 1_000
// Bodies whose mails are on their way; each up to 2 MiB.
const maxPlans = 20

/** Puts links and pixel into bodies, for the threads that compose mail. */
export function makeTracker(deps: TrackerDeps): Tracker {
  const { store, clock } = deps
  const tokens = makeTrackingTokens(deps.key)
  const home = new URL(deps.publicUrl)
  const domains = new Map<string, { tracking: DomainTracking | undefined; at: number }>()
  const plans = new Map<string, { html: string; plan: RewritePlan }>()
  const outweighs = makeOutweighs()
  // Kept from the mail before, because one domain's mails come together.
  let origins: { base: string; own: ReadonlySet<string> } | undefined

  const trackingFor = async (domainId: string): Promise<DomainTracking | undefined> => {
    if (deps.tracking === undefined) return undefined
    const now = clock.now()
    const known = domains.get(domainId)
    if (known !== undefined && isRecent(known.at, now, switchTtlMs)) return known.tracking
    const tracking = await trackingOf(store.read, domainId, deps.tracking)
    keepNewest(domains, domainId, { tracking, at: now }, maxDomains)
    return tracking
  }

  const planFor = (bodyId: number | null, html: string, base: string): RewritePlan => {
    const name = `${bodyId} ${base}`
    const known = bodyId === null ? undefined : plans.get(name)
    // A campaign's body is merged for each recipient: the same body has different texts.
    if (known?.html === html) return known.plan
    if (origins?.base !== base) {
      origins = { base, own: new Set([home.origin, new URL(base).origin]) }
    }
    const plan = planOf(html, origins.own)
    if (bodyId !== null) keepNewest(plans, name, { html, plan }, maxPlans)
    return plan
  }

  return {
    async track(mail, html) {
      // The appliance's notices are for its operator; nobody needs to know how often they are read.
      if (html === '' || mail.accountId === applianceAccountId) return html
      const tracking = await trackingFor(mail.domainId)
      if (tracking === undefined) return html
      const base = tracking.host === null ? deps.publicUrl : urlAt(home, tracking.host)
      const { clicks } = tracking
      const opens = mail.type === 'marketing' ? tracking.opens : tracking.opensOfTransactional
      const plan = clicks ? planFor(mail.bodyId, html, base) : undefined
      const tracked =
        plan === undefined
          ? html
          : withLinks(plan, (target) => {
              const click = { links: plan.targets.length, target, ...mail }
              return `${base}/c/${tokens.click(click)}`
            })
      return opens && outweighs(mail.bodyId, html)
        ? withPixel(tracked, `${base}/o/${tokens.open(mail)}.gif`)
        : tracked
    },
  }
}

const urlAt = ({ protocol, port }: URL, host: string) =>
  `${protocol}//${host}${port === '' ? '' : `:${port}`}`

/** Like `outweighsPixel`, but keeps the answer for the last body. */
function makeOutweighs() {
  // The answer for the last body, whose mails come together.
  let latest: { bodyId: number; is: boolean } | undefined
  return (bodyId: number | null, html: string): boolean => {
    if (latest !== undefined && latest.bodyId === bodyId) return latest.is
    const is = outweighsPixel(html)
    if (bodyId !== null) latest = { bodyId, is }
    return is
  }
}

// Without `display: none`, with which some programs do not load it.
function withPixel(html: string, url: string): string {
  const place = html.indexOf(footerPlace)
  const end = place === -1 ? placesIn(html).end : place
  const image = `<img src="${url}" width="1" height="1" alt="" style="border:0">`
  return `${html.slice(0, end)}${image}${html.slice(end)}`
}
