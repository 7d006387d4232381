import type { Surge } from '../../surges/index.js'
import { type Moment, moment } from '../format.js'

/** A surge as its pages show it. */
export interface SurgeView {
  id: string
  accountId: string
  began: Moment
  mails: string
  usual: string
  most: string
  held: string
  sources: { key: string; keyId: string | null; address: string; mails: string }[]
  /** Undefined: what is held waits. */
  decided: { what: string; by: string; at: Moment } | undefined
  isUnderWay: boolean
}

const shown = (count: number) => count.toLocaleString('en-GB')

/** In words and moments. */
export const surgeView = (surge: Surge, now: number): SurgeView => ({
  id: surge.id,
  accountId: surge.accountId,
  began: moment(surge.beganAt, now),
  mails: shown(surge.mails),
  usual: shown(surge.usual),
  most: shown(surge.most),
  held: shown(surge.held),
  sources: surge.sources
    .toSorted((a, b) => b.mails - a.mails)
    .map(({ keyId, keyName, address, mails }) => ({
      // Nothing leads to a key that was deleted.
      keyId: keyName === null ? null : keyId,
      key: keyName ?? (keyId === null ? 'An automation, or no key' : 'A key that is gone'),
      address: address === '' ? 'not known' : address,
      mails: shown(mails),
    })),
  decided:
    surge.decision === null || surge.decidedAt === null
      ? undefined
      : {
          what: surge.decision === 'released' ? 'Let go' : 'Given up',
          by: surge.decidedBy ?? '',
          at: moment(surge.decidedAt, now),
        },
  isUnderWay: surge.decision !== null && surge.endedAt === null,
})
