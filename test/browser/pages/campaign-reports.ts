import { systemClock as clock } from '../../../src/clock/index.js'
import { addContact } from '../../../src/contacts/index.js'
import { newUuid } from '../../../src/store/index.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import type { PlacePages } from '../every-page.js'

const long = 'a-very-long-subject-without-a-space'.repeat(6)

/** Reports with the longest links, words and names; one of a campaign that is being sent. */
export const place: PlacePages = {
  async fill({ store, accountId, ids }) {
    const people: string[] = []
    for (let n = 0; n < 12; n++) {
      const email = `reader-with-a-rather-long-name-${n}@${'sub.'.repeat(8)}example.test`
      people.push((await addContact({ store, clock }, accountId, { email })).contact.id)
    }
    const day = 86_400_000
    const sentAt = clock.now() - 3 * day
    const many = <T>(count: number, of: (n: number) => T) =>
      Array.from({ length: count }, (_, n) => of(n))
    for (const n of [1, 2, 3]) {
      const id = newUuid(sentAt - n * 7 * day)
      await insertCampaignRows(store, {
        id,
        accountId,
        subject: `Week ${n}`,
        sentAt: sentAt - n * 7 * day,
        mails: 900 * n,
      })
    }
    ids.report = newUuid(sentAt)
    await insertCampaignRows(store, {
      id: ids.report,
      accountId,
      subject: `<b>${long}</b>`,
      sentAt,
      mails: 1_234_567,
      hours: 40,
      links: many(30, (n) => `https://shop.test/${'path/'.repeat(20)}${n}?utm_source=newsletter`),
      providers: many(30, (n) => `${'long-domain.'.repeat(4)}${n}.test`),
      words: many(30, (n) => `550 5.1.1 ${'no such user here '.repeat(10)}${n}`),
      people,
    })
    ids.sendingReport = newUuid(clock.now())
    await insertCampaignRows(store, {
      id: ids.sendingReport,
      accountId,
      subject: 'On its way',
      sentAt: clock.now() - 600_000,
      status: 'sending',
      mails: 5_000,
      hours: 1,
    })
  },
  pages: ({ full, ids }) => [
    { path: `${full}/campaigns/${ids.report}/report`, as: 'owner', name: 'campaign-report' },
    {
      path: `${full}/campaigns/${ids.sendingReport}/report`,
      as: 'viewer',
      name: 'campaign-report-sending',
    },
    {
      path: `${full}/campaigns/${ids.report}/report/people?who=opened`,
      as: 'owner',
      name: 'campaign-report-people',
    },
    {
      path: `${full}/campaigns/${ids.report}/report/people?who=unreached`,
      as: 'owner',
      name: 'campaign-report-unreached',
    },
    {
      path: `${full}/campaigns/${ids.report}/report/mail`,
      as: 'owner',
      name: 'campaign-report-mail',
    },
    {
      path: `${full}/campaigns/${ids.report}/report/people?who=left`,
      as: 'owner',
      name: 'campaign-report-nobody',
    },
  ],
}
