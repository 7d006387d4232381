import { sql } from 'kysely'
import { hourMs } from '../clock/index.js'

/** For how long a claim leases a delivery: longer than all of an attempt's deadlines together. */
export const leaseMs = hourMs

/** Who has claimed: it tells threads apart, and the starts of all appliances over a database. */
export const leaseOf = ({ epoch }: { epoch: number }, thread: number): number =>
  epoch * leasesAnEpoch + thread

/** The first lease of an epoch; leases of earlier epochs are less. */
export const firstLeaseOf = (node: { epoch: number }): number => leaseOf(node, 0)

/** The thread's number in leases that one appliance takes over from another. */
export const adoptingThread = 15
const leasesAnEpoch = 16

/** An attempt is under way: the row's lease has not run out. */
export const isInFlight = (now: number) => sql<boolean>`(lease is not null and due_at > ${now})`
