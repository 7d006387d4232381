import { type Clock, dayMs, hourMs } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import type { MailFlow, Overview } from '../doctor/index.js'
import type { Series } from '../metrics/index.js'
import { ownName } from '../release/index.js'
import type { Crew } from './crew.js'
import type { Health } from './health.js'
import type { Chore } from './housekeeping.js'
import type { Metrics } from './metrics.js'

export interface OverviewDeps {
  clock: Clock
  metrics: Pick<Metrics, 'series'>
  crew: Pick<Crew, 'standing'>
  health: Pick<Health, 'unhealthy' | 'unready'>
  hasRoomForCampaigns: () => boolean
}

interface Sample extends Omit<MailFlow, 'ms'> {
  at: number
}

const sampleEveryMs = 60_000

/** Keeps a sample a minute for a day, and tells rates from these without asking the database. */
export function openOverview({ clock, metrics, crew, health, hasRoomForCampaigns }: OverviewDeps) {
  const startedAt = clock.now()
  const samples: Sample[] = []
  let listeners: Overview['listeners'] = []

  const sample = (series: readonly Series[]): Sample => {
    const sum = (name: string, outcomes?: readonly string[]) =>
      series
        .filter(({ metricName }) => metricName === name)
        .filter(({ labels }) => outcomes === undefined || outcomes.includes(labels.outcome ?? ''))
        .reduce((total, { value }) => total + value, 0)
    const attempts = (...outcomes: string[]) => sum('posthorn_attempts_total', outcomes)
    return {
      at: clock.now(),
      accepted: sum('posthorn_accepted_total'),
      delivered: attempts('delivered', 'relayed'),
      deferred: attempts('deferred'),
      bounced: attempts('bounced'),
      diskBytes: -sum('posthorn_disk_free_bytes'),
    }
  }
  // A difference of two samples: the counts themselves begin anew with each start.
  const since = (now: Sample, ms: number): MailFlow => {
    const within = samples.filter(({ at }) => at >= now.at - ms)
    const [from = now] = within
    // The room on the disk is known only some seconds after the start.
    const disk = within.find(({ diskBytes }) => diskBytes !== 0) ?? now
    const flow = (name: Exclude<keyof Sample, 'at' | 'diskBytes'>) => now[name] - from[name]
    return {
      ms: now.at - from.at,
      accepted: flow('accepted'),
      delivered: flow('delivered'),
      deferred: flow('deferred'),
      bounced: flow('bounced'),
      diskBytes: now.diskBytes - disk.diskBytes,
    }
  }
  const keep = () => {
    const all = metrics.series()
    if (all.length > 0) samples.push(sample(all))
    while ((samples[0]?.at ?? Number.POSITIVE_INFINITY) < clock.now() - dayMs - sampleEveryMs) {
      samples.shift()
    }
  }
  keep()

  return {
    listensAt(known: Overview['listeners']) {
      listeners = known
    },
    chore: {
      name: 'rates of the day',
      of: 'node',
      everyMs: sampleEveryMs,
      run: async () => keep(),
    } as Chore,
    async tell(): Promise<Overview> {
      const [standing, unhealthy, unready] = await Promise.all([
        crew.standing(),
        health.unhealthy(),
        health.unready(),
      ])
      const series = metrics.series()
      const now = sample(series)
      const rates = { hour: since(now, hourMs), day: since(now, dayMs) }
      return {
        version: packageVersion(),
        release: ownName(),
        startedAt,
        now: clock.now(),
        listeners,
        unhealthy,
        unready,
        ...standing,
        hasRoomForCampaigns: hasRoomForCampaigns(),
        // Buckets are for Prometheus.
        series: series.filter(({ labels }) => labels.le === undefined),
        rates: series.length === 0 ? null : rates,
      }
    },
  }
}
