import { sql } from 'kysely'
import { hourMs } from '../clock/index.js'

/** How long a claim leases a delivery for: longer than all of an attempt's deadlines together. */
export const leaseMs = hourMs

/** An attempt is under way: the row's lease has not run out. */
export const isInFlight = (now: number) => sql<boolean>`(lease is not null and due_at > ${now})`
