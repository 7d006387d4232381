import { setMarketingPlan } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { newUuid } from '../../../src/store/index.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import { plans } from '../../support/campaigns.js'
import type { PlacePages } from '../every-page.js'

const long = 'wolfeschlegelsteinhausenbergerdorff'

/** Campaigns in each state, with the longest names that they may have. */
export const place: PlacePages = {
  async fill({ store, accountId, ids, call }) {
    const pro = plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null
    await store.write((tx) => setMarketingPlan(tx, accountId, pro))
    const list = await call('POST', '/v1/contacts/lists', { body: { name: long.repeat(2) } })
    const listId = list.json.id
    await call('POST', `/v1/contacts/${listId}`, { body: { email: 'reader@example.org' } })
    const make = async (more: object) => {
      const html = `<body><p>Hello {{ firstName }}!</p><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><a href="#">x</a></body>`
      const body = { from: 'News <news@sender.test>', subject: `${long} `.repeat(4), html, listId }
      const made = await call('POST', '/v1/broadcasts', { body: { ...body, ...more } })
      if (made.status !== 200) throw new Error(made.text)
      return made.json.id as string
    }
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const blocks = {
      version: 1,
      blocks: [
        { type: 'heading', text: `${long} `.repeat(3) },
        { type: 'button', text: long, url: 'https://shop.test/' },
        {
          type: 'columns',
          columns: [[{ type: 'text', text: long }], [{ type: 'space', height: 20 }]],
        },
      ],
    }
    const variants = [{}, { subject: long, html: '<p>B</p>' }]
    Object.assign(ids, {
      versionsCampaign: await make({ draft: true, variants }),
      blocksCampaign: await make({ draft: true, html: undefined, blocks }),
      campaign: await make({ draft: true, name: `${long} `.repeat(3), previewText: 'In a minute' }),
      scheduledCampaign: await make({ scheduledAt }),
      sendingCampaign: newUuid(clock.now()),
      sentCampaign: newUuid(clock.now() - 7_200_000),
    })
    const rows = { accountId, mails: 12_345, subject: `${long} `.repeat(4) }
    const sending = { id: ids.sendingCampaign ?? '', sentAt: clock.now() - 600_000 }
    await insertCampaignRows(store, { ...rows, ...sending, hours: 1, status: 'sending' })
    const sent = { id: ids.sentCampaign ?? '', sentAt: clock.now() - 7_200_000 }
    await insertCampaignRows(store, { ...rows, ...sent, listId })
  },
  pages: ({ full, empty, ids }) => [
    { path: `${full}/campaigns`, as: 'owner', name: 'campaigns' },
    { path: `${full}/campaigns?show=going`, as: 'viewer', name: 'campaigns-going' },
    { path: `${full}/campaigns/calendar`, as: 'viewer', name: 'campaigns-calendar' },
    { path: `${empty}/campaigns/calendar`, as: 'empty', name: 'campaigns-calendar-empty' },
    { path: `${empty}/campaigns`, as: 'empty', name: 'campaigns-empty' },
    { path: `${full}/campaigns/new`, as: 'owner', name: 'campaigns-new' },
    ...['event', 'digest', 'newsletter'].map((name) => ({
      path: `${full}/campaigns/new?layout=${name}`,
      as: 'owner' as const,
      name: `campaigns-new-${name}`,
    })),
    { path: `${full}/campaigns/${ids.campaign}`, as: 'owner', name: 'campaigns-draft' },
    { path: `${full}/campaigns/${ids.campaign}`, as: 'viewer', name: 'campaigns-draft-viewer' },
    {
      path: `${full}/campaigns/${ids.campaign}/versions`,
      as: 'owner',
      name: 'campaigns-versions',
    },
    {
      path: `${full}/campaigns/${ids.versionsCampaign}/versions/B`,
      as: 'owner',
      name: 'campaigns-version-content',
    },
    { path: `${full}/campaigns/${ids.campaign}/send`, as: 'owner', name: 'campaigns-send' },
    {
      path: `${full}/campaigns/${ids.campaign}/rehearsal`,
      as: 'viewer',
      name: 'campaigns-rehearsal',
    },
    { path: `${full}/campaigns/${ids.scheduledCampaign}`, as: 'owner', name: 'campaigns-one' },
    {
      path: `${full}/campaigns/${ids.sendingCampaign}`,
      as: 'owner',
      name: 'campaigns-one-sending',
    },
    { path: `${full}/campaigns?show=sent`, as: 'owner', name: 'campaigns-sent' },
    { path: `${full}/campaigns/${ids.sentCampaign}`, as: 'viewer', name: 'campaigns-one-sent' },
    ...['versionsCampaign', 'blocksCampaign', 'scheduledCampaign', 'sendingCampaign'].map(
      (name) => ({
        path: `${full}/campaigns/${ids[name]}`,
        as: 'viewer' as const,
        name: `campaigns-${name}-viewer`,
      }),
    ),
    {
      path: `${full}/campaigns/${ids.blocksCampaign}`,
      as: 'member',
      name: 'campaigns-blocks',
      open: async (page) => {
        await page.getByText('Blocks to use again').click()
        await page.getByText('Rename or remove what is chosen').click()
      },
    },
    {
      path: `${full}/campaigns/${ids.sentCampaign}/report/people?who=sent`,
      as: 'viewer',
      name: 'campaigns-people-viewer',
    },
    {
      path: `${full}/campaigns/${ids.sentCampaign}/report/people?who=not_opened`,
      as: 'owner',
      name: 'campaigns-send-again',
    },
  ],
}
