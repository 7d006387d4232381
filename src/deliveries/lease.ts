import { sql } from 'kysely'
import { hourMs } from '../clock/index.js'

/** How long a claim leases a delivery for: longer than all of an attempt's deadlines together. */
export const leaseMs = hourMs

/** Whose claims they are: threads are told apart, and so are the starts of all appliances over a database. */
export const leaseOf = ({ epoch }: { epoch: number }, thread: number): number =>
  epoch * leasesAnEpoch + thread

/** The first lease of an epoch; those of before it are less. */
export const firstLeaseOf = (node: { epoch: number }): number => leaseOf(node, 0)

/** Of what one appliance takes over from another. */
export const adoptingThread = 15
const leasesAnEpoch = 16

/** An attempt is under way: the row's lease has not run out. */
export const isInFlight = (now: number) => sql<boolean>`(lease is not null and due_at > ${now})`
