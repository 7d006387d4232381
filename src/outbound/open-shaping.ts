import { repeat } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { threadsOf } from '../nodes/index.js'
import { makeBrakes, watchBrakes } from './brakes/index.js'
import type { OutboundDeps } from './deps.js'
import type { Egress } from './egress/index.js'
import { insideSites, isInside, makePoolNames } from './routing/index.js'
import {
  claimRation,
  forgetLearned,
  isWarmedUp,
  makeShaping,
  makeWarmUp,
  noWarmUp,
  readLearned,
  type Shaping,
  saveLearned,
  type WarmUp,
} from './shaping/index.js'

// What was learned is written this often, so a crash loses no more than that.
const saveEveryMs = 30_000

/**
 * A thread's shaping with what it needs around it: what was learned before, the rations of its
 * source addresses, and the saving of what it learns.
 */
export async function openShaping(
  deps: OutboundDeps,
  { onRation, onBrake }: { onRation: () => void; onBrake: () => void },
  onFailover: Egress['refused'],
): Promise<{
  shaping: Shaping
  /** From now on watches how the sites do, and may call `onBrake`. */
  watch(): void
  close(): Promise<void>
}> {
  const { store, clock, log, config, thread, threads, random } = deps
  const warmUps = new Map<string, WarmUp>()
  const warmUpOf = (source: string): WarmUp => {
    if (!isWarmedUp(config)) return noWarmUp
    const known = warmUps.get(source)
    if (known !== undefined) return known
    const warmUp = makeWarmUp({
      clock,
      threads,
      claim: (request) =>
        store.write((tx) => claimRation(tx, source, request, config.warmUpReserve)),
      onRation,
    })
    warmUps.set(source, warmUp)
    return warmUp
  }

  // The threads of each node have numbers of their own there, and keep their own rows.
  const of = threadsOf(store.node)
  const ownThread = of.first + thread
  const isOwn = (one: number) => one >= of.first && one < of.end
  const learned = (await readLearned(store.read)).map((row) => ({
    ...row,
    thread: isOwn(row.thread) ? row.thread - of.first : -1,
  }))
  const poolOf = makePoolNames(config, deps.unnamedSource)
  const brakes = await makeBrakes(deps, poolOf)
  const shaping = makeShaping({
    data: deps.shaping,
    unshaped: insideSites.map(({ key }) => key),
    isInside,
    clock,
    random,
    thread,
    threads,
    warmUpOf,
    learned,
    brakeOf: brakes.of,
    onAction({ key: site }, source, { action, name, from, until, reply }, accountId) {
      const fields = { site, source, automation: name, from, until: new Date(until), reply }
      log.warn(fields, `A receiver's reply: ${action}`)
      if (action === 'failover') onFailover({ site, reply, until, accountId })
    },
  })

  await store.write(async (tx) => {
    await forgetLearned(tx, { thread, threads, of })
    await saveLearned(tx, shaping.learnedChanges(), { thread: ownThread, now: clock.now() })
  })

  const save = async () => {
    shaping.sweep()
    const changes = shaping.learnedChanges()
    if (changes.changed.length === 0 && changes.gone.length === 0) return
    await store.write((tx) => saveLearned(tx, changes, { thread: ownThread, now: clock.now() }))
  }
  // A stop waits for the save under way: a timer that it set afterwards would keep the thread alive for half a minute.
  const saving = repeat(clock, async () => {
    // Only a restart would have to learn it again.
    await save().catch((error) =>
      log.warn({ cause: messageOf(error) }, 'Sites could not be written'),
    )
    return saveEveryMs
  })

  let watched: ReturnType<typeof watchBrakes> | undefined
  return {
    shaping,
    watch() {
      watched = watchBrakes(deps, { shaping, brakes, poolOf, onChange: onBrake })
    },
    async close() {
      await watched?.close()
      await saving.stop()
      await save().catch(() => {})
    },
  }
}
