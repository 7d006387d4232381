import type { Tx } from '../store/index.js'

/**
 * Notes proved complaints by the host that took the mail. They count for its site's brake (`outbound/brakes/`), and
 * only an outbound thread knows that site.
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
