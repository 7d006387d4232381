import { type Clock, pause } from '../clock/index.js'
import type { Reason } from '../doctor/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import {
  findBrokenUpgrade,
  heldRelease,
  liftHold,
  ownName,
  speaksAgainst,
  upgradeLock,
} from '../release/index.js'
import { tryLockFile } from '../store/index.js'

/** Whether an upgrade still looks at this release (`release/README.md`): until it is done nothing is taken or sent. */
export interface Hold {
  readonly isOn: boolean
  /** What clients of the listeners are told while the hold is on: a 503. Undefined otherwise. */
  refuse(): ApiError | undefined
  /**
   * Resolves when the hold is lifted, or with false when it was closed before. `reasons` says what is wrong now;
   * `stuck` is told why the release stays held although nobody upgrades any more.
   */
  over(reasons: () => Promise<Reason[]>, stuck: (why: string) => void): Promise<boolean>
  close(): void
}

const lookEveryMs = 250
// An upgrade that is under way asks far sooner; after one that was killed this asks in its place.
const healthyLooks = 4
// A start may take some seconds; after that the operator is told, and again while nothing changes.
const stuckLooks = 40
const tellEveryLooks = 1_200

/**
 * An upgrade has started this release to see whether it is healthy. Until the upgrade says so, nothing may be taken or
 * sent, because the database may still be put back.
 */
export function openHold(dataDir: string, clock: Clock, log: Log): Hold {
  const closing = new AbortController()
  const isHeld = () => heldRelease(dataDir) === ownName()
  let isOn = isHeld()
  const broken = findBrokenUpgrade(dataDir)
  if (broken !== undefined) log.warn({ fix: broken.fix }, broken.says)
  /** No upgrade is there any more to say so: the appliance decides itself, by what it can see. */
  const liftWithoutUpgrade = () => {
    const unlock = tryLockFile(upgradeLock(dataDir))
    if (unlock === undefined) return
    try {
      if (isHeld()) liftHold(dataDir)
      log.warn({}, 'The upgrade was broken off after its new release had become healthy: it begins')
    } finally {
      unlock()
    }
  }
  const tellStuck = (reasons: readonly Reason[], stuck: (why: string) => void) => {
    const left = findBrokenUpgrade(dataDir)
    if (left === undefined) return
    const why = reasons.map(({ says }) => says).join('; ')
    const says = `${left.says}, and this release takes and sends nothing: ${why}`
    log.error({ fix: left.fix }, says)
    stuck(says)
  }
  return {
    get isOn() {
      return isOn
    },
    refuse() {
      if (!isOn) return undefined
      return new ApiError('service_unavailable', 'Posthorn is being upgraded: try again soon', {
        headers: { 'Retry-After': '5' },
      })
    },
    async over(reasons, stuck) {
      if (!isOn) return true
      log.info({}, "Held by 'posthorn upgrade': nothing is taken or sent before it says so")
      for (let healthy = 0, looks = 0; isHeld(); looks++) {
        const against = (await reasons()).filter(speaksAgainst)
        healthy = against.length === 0 ? healthy + 1 : 0
        if (healthy >= healthyLooks) liftWithoutUpgrade()
        else if (healthy === 0 && looks % tellEveryLooks === stuckLooks) tellStuck(against, stuck)
        await pause(clock, lookEveryMs, closing.signal)
        if (closing.signal.aborted) return false
      }
      isOn = false
      return true
    },
    close: () => closing.abort(),
  }
}
