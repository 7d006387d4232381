import { type Infer, optional, string, type } from 'superstruct'
import { auditOf } from '../../contract/index.js'
import * as operations from '../../domains/contract.js'
import { type Domain, oldRecords, rotateDomain } from '../../domains/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { DomainPageDeps } from './deps.js'
import { domainOf } from './domain-of.js'

/** A domain's DKIM keys: how old they are, and which are being replaced. */
export interface RotationView {
  selectors: string
  made: Moment | undefined
  /** The old key was replaced at once, so nothing is signed until a new record is seen. */
  isUnsigned: boolean
  /** The selectors of keys that wait for their records; empty: none. */
  next: string
  old: { host: string; mayGo: boolean; at: Moment }[]
}

export const rotationView = (domain: Domain, now: number): RotationView => {
  const oldest = Math.min(...domain.keys.map(({ createdAt }) => createdAt))
  return {
    selectors: domain.keys.map(({ selector }) => selector).join(', '),
    made: Number.isFinite(oldest) ? moment(oldest, now) : undefined,
    isUnsigned: domain.status === 'verified' && !domain.keys.some(({ verified }) => verified),
    next: domain.next.map(({ selector }) => selector).join(', '),
    old: oldRecords(domain, now).map(({ host, mayGo, mayGoAt }) => ({
      host,
      mayGo,
      at: moment(mayGoAt, now),
    })),
  }
}

const Rotate = type({ atOnce: optional(string()) })

/** Replaces the keys: with new ones beside them, or at once because they have leaked. */
export function rotatePages(
  pages: AccountPages,
  deps: DomainPageDeps,
  show: (visit: Visit, faults: Faults) => Promise<PageAnswer>,
): void {
  const rotating = { action: 'domains.write', form: Rotate, sudo: true, again: show } as const
  pages.post('/domains/:name/rotate', rotating, async (visit) => {
    const { account, base, form } = visit
    const { name, trusted } = await domainOf(deps, visit)
    const atOnce = isAtOnce(form)
    await rotateDomain(deps, account.id, name, { atOnce })
    const flash = atOnce
      ? 'The keys are replaced. Publish the new records now: before they are seen nothing is signed'
      : `New keys are made. Publish their records, and mail is signed with them ${trusted ? 'once you check them here' : 'within minutes'}`
    const audit = auditOf(operations.rotateDomain, { target: name, detail: { atOnce } })
    return redirect(`${base}/domains/${name}`, { flash, audit })
  })
}

const isAtOnce = ({ atOnce }: Infer<typeof Rotate>) => atOnce === 'yes'
