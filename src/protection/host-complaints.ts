import type { Tx } from '../store/index.js'

/**
 * Notes proved complaints by the host that took the mail: which site that is only an outbound thread knows, whose brake
 * they count for (`outbound/brakes/`).
 */
export async function noteHostComplaints(
  tx: Tx,
  complaints: readonly { host: string; domain: string }[],
): Promise<void> {
  for (const { host, domain } of complaints) {
    await tx
      .insertInto('host_complaints')
      .values({ host, domain, complained: 1 })
      .onConflict((conflict) =>
        conflict.columns(['host', 'domain']).doUpdateSet((eb) => ({
          complained: eb('host_complaints.complained', '+', eb.ref('excluded.complained')),
        })),
      )
      .execute()
  }
}
