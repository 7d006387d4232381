import type { Kysely, Migration } from 'kysely'
import type { Tables } from '../schema/index.js'

/** Campaigns by the time at which they begin or began, for the page of a month. */
export const campaignCalendar: Migration = {
  async up({ schema }: Kysely<Tables>) {
    for (const time of ['sent_at', 'scheduled_at'] as const) {
      await schema
        .createIndex(`broadcasts_by_${time}`)
        .on('broadcasts')
        .columns(['account_id', time])
        .where(time, 'is not', null)
        .execute()
    }
  },
}
