import { isRecent, utcTime } from '../../clock/index.js'
import type { ShapingAction, ShapingAutomation } from './automation.js'
import type { Lasting } from './lasting.js'
import { occursIn, wordsOf } from './pattern.js'
import type { Policy, RankedAutomation } from './policy.js'

/** What an automation does, told once while it lasts. */
export interface SiteAction {
  readonly action: Exclude<ShapingAction, 'none'>
  /** The automation's name, and where it is written. */
  readonly name: string
  readonly from: string
  readonly until: number
  readonly reply: string
  /** The action was already in force and lasts longer now: the operator has been told. */
  readonly again?: true
}

/** What is in force because of a receiver's words, as plain data. */
export interface ActiveAction extends Lasting {
  readonly name: string
  /** Tells automations of the same name in several tables apart. */
  readonly rank: number
  readonly action: Exclude<ShapingAction, 'none' | 'suspend'>
  readonly until: number
  readonly connections: number | null
  readonly messagesPerMinute: number | null
  readonly reply: string
}

/** When a reply was heard, and how many connections are left if it asks for fewer. */
export interface Heard {
  now: number
  halved: number
}

/** What the automations of one site have set in force: at most one entry for each that its policy has. */
export class Reactions {
  readonly #active = new Map<string, ActiveAction>()
  /** When the words of an automation with a threshold were heard, the last `times` - 1 times. */
  readonly #heard = new Map<string, { times: number[]; withinMs: number }>()

  constructor(active: readonly ActiveAction[] = []) {
    for (const action of active) this.#active.set(keyOf(action), action)
  }

  /**
   * Takes in a server's reply and returns the actions that it set off, which the caller tells the operator once. A
   * lower limit is in force from now on; the caller suspends the site.
   */
  listen(policy: Policy, reply: string, { now, halved }: Heard): SiteAction[] {
    return automationsFor(policy, reply)
      .filter((automation) => this.#isReached(automation, now))
      .flatMap((automation) => this.#act(automation, reply, { now, halved }) ?? [])
  }

  /** The lowest of the limits in force and `usual`. */
  lowest(limit: 'connections' | 'messagesPerMinute', usual: number, now: number): number {
    let most = usual
    for (const { until, [limit]: lowered } of this.#active.values()) {
      if (until > now && lowered !== null) most = Math.min(most, lowered)
    }
    return most
  }

  /** Whose words lowered a limit that far, and until when, for people; empty when no words did. */
  because(limit: 'connections' | 'messagesPerMinute', to: number, now: number): string {
    const causes = this.active(now).filter(({ [limit]: lowered }) => lowered === to)
    const [longest] = causes.sort((a, b) => b.until - a.until)
    if (longest === undefined) return ''
    return ` until ${utcTime(longest.until)}, as the receiver answered: ${longest.reply}`
  }

  /** The actions in force now. */
  active(now: number): ActiveAction[] {
    for (const [key, { until }] of this.#active) if (until <= now) this.#active.delete(key)
    return [...this.#active.values()]
  }

  /** True when nothing is in force and no threshold is half counted. */
  isOver(now: number): boolean {
    for (const [key, { times, withinMs }] of this.#heard) {
      if (times.every((at) => !isRecent(at, now, withinMs))) this.#heard.delete(key)
    }
    return this.#heard.size === 0 && this.active(now).length === 0
  }

  /** The clock was set back: no action lasts longer because of that. */
  setBack(byMs: number): void {
    for (const [key, action] of this.#active) {
      const { until, at = until } = action
      this.#active.set(key, { ...action, until: until - byMs, at: at - byMs })
    }
  }

  #isReached(automation: RankedAutomation, now: number): boolean {
    const { times, withinMs } = automation.threshold
    if (times <= 1) return true
    const key = keyOf(automation)
    const recent = this.#heard.get(key)?.times.filter((at) => isRecent(at, now, withinMs)) ?? []
    const reached = recent.length + 1 >= times
    // Once the threshold is reached the count begins anew: the next time needs as many replies again.
    this.#heard.set(key, { times: reached ? [] : [...recent, now], withinMs })
    return reached
  }

  #act(
    automation: RankedAutomation,
    reply: string,
    { now, halved }: Heard,
  ): SiteAction | undefined {
    const { action, name, rank, from, forMs } = automation
    if (action === 'none') return undefined
    const until = now + forMs
    const told = { action, name, from, until, reply }
    if (action === 'suspend') return told
    const key = keyOf(automation)
    const goesOn = (this.#active.get(key)?.until ?? 0) > now
    // When a receiver asks again to slow down, that lasts longer. Other actions begin anew only when their time is
    // over.
    const isFewer = action === 'fewer connections'
    if (goesOn && action !== 'slow down' && !isFewer) return undefined
    const { connections = isFewer ? halved : null, messagesPerMinute = null } = automation
    const words = firstWords(reply)
    this.#active.set(key, {
      name,
      rank,
      action,
      until,
      at: now,
      connections,
      messagesPerMinute,
      reply: words,
    })
    return goesOn ? { again: true, ...told } : told
  }
}

/** The automations that fit a server's reply, from the most specific table that has any. */
export function automationsFor(policy: Policy, reply: string): RankedAutomation[] {
  const words = wordsOf(reply)
  if (words === undefined) return []
  const fits = (automation: ShapingAutomation) =>
    words.startsWith(automation.code) &&
    automation.patterns.some((pattern) => occursIn(pattern, words)) &&
    !automation.unless.some((pattern) => occursIn(pattern, words))
  const rank = policy.automations.find(fits)?.rank
  return policy.automations.filter((automation) => automation.rank === rank && fits(automation))
}

/** The key of an automation; it differs between tables. */
const keyOf = ({ rank, name }: { rank: number; name: string }) => `${rank} ${name}`

/** The beginning of a reply on one line, for people to read. */
export const firstWords = (reply: string) => reply.replace(/\s+/g, ' ').slice(0, 200)
