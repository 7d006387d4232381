import t from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import { systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { questionOf } from '../../src/stats/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { startPosthorn } from '../support/posthorn.js'

// On a machine that may have other work.
t.setTimeout(300_000)

const today = () => new Date().toISOString().slice(0, 10)

t.test('bounces, complaints, opens, tags and campaigns by the API', async (t) => {
  const posthorn = await startPosthorn(t, {
    env: {
      POSTHORN_TRACKING_MACHINE_WITHIN: '0s',
    },
  })
  const { accountId, store, call } = posthorn
  const day = today()
  const mail = (to: string, more: object = {}) => ({
    from: 'a@sender.test',
    to,
    subject: 's',
    html: '<p>x</p>',
    ...more,
  })
  const tags = [{ name: 'plan', value: 'pro' }]
  const ids: string[] = []
  for (const body of [
    mail('ann@gmail.com', { tags }),
    mail('bob@one.test', { tags, cc: ['cy@two.test'] }),
    mail('bounced@simulator.posthorn.test'),
    mail('complained@simulator.posthorn.test', { tags: [{ name: 'plan', value: 'free' }] }),
  ]) {
    const { status, json } = await posthorn.send(body)
    t.equal(status, 200)
    ids.push(json.id)
  }
  const stats = async (query = '', key = posthorn.apiKey) =>
    (await call('GET', `/v1/stats?${query}`, { key })).json
  /** What is under way at that moment comes within seconds. */
  const until = async (
    query: string,
    isSo: (json: Awaited<ReturnType<typeof stats>>) => boolean,
  ) => {
    for (let waited = 0; ; waited += 20) {
      const json = await stats(query)
      if (isSo(json)) return json
      if (waited > 60_000) throw new Error(`It stays ${JSON.stringify(json.total)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  t.equal((await stats()).total.mails, 4, 'accepted mails are there at once')
  const { total } = await until(
    '',
    (json) => json.total.answered === 5 && json.total.complained === 1,
  )
  t.match(total, { mails: 4, accepted: 5, delivered: 4, bouncedHard: 1, complained: 1 })
  t.match(total.rates, { delivery: 0.8, bounce: 0.2, complaint: 0.25, open: 0 })

  const tokens = makeTrackingTokens(openApplianceKey(applianceKeyFile(posthorn.dataDir)))
  const copies = await store.read
    .selectFrom('deliveries')
    .select(['id', 'email_id'])
    .where('email_id', 'in', ids.slice(0, 2))
    .execute()
  const open = async ({ id, email_id }: (typeof copies)[number], agent: string) => {
    const token = tokens.open({ accountId, emailId: email_id, deliveryId: id })
    const headers = { 'user-agent': agent }
    await (await fetch(`${posthorn.publicUrl}/o/${token}.gif`, { headers })).arrayBuffer()
  }
  const person = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0'
  for (const copy of copies) await open(copy, person)
  await until('', (json) => json.total.opened === 3)
  for (const copy of copies) await open(copy, person)
  for (const copy of copies) await open(copy, 'GoogleImageProxy-bot/1.0 (compatible; bot)')
  const opened = await until('', ({ total }) => total.opened + total.openedByMachines === 9)
  t.equal(opened.total.openedUnique, 2, 'a mail once, whichever of its recipients opens it')
  t.ok(opened.total.openedByMachines >= 3, 'machines apart')

  t.match(await stats('groupBy=tag'), {
    total: { mails: 4 },
    groups: [
      { tag: { name: 'plan', value: 'pro' }, mails: 2, accepted: 3, openedUnique: 2, other: false },
      { tag: { name: 'plan', value: 'free' }, mails: 1, complained: 1 },
    ],
  })
  t.match(await stats('groupBy=provider&tag=plan:pro'), {
    code: 'validation_error',
    error: /not kept by provider and tag together/,
  })
  const { groups } = await stats('groupBy=provider')
  const byName = new Map(groups.map((group: { provider: string }) => [group.provider, group]))
  t.match(byName.get('Google'), { mails: null, accepted: null, delivered: 1 })
  t.match(byName.get('simulator.posthorn.test'), { answered: 2, delivered: 1, bouncedHard: 1 })
  t.match(await stats('groupBy=day,domain'), {
    groups: [{ day, domain: 'sender.test', mails: 4, other: false }],
  })
  const empty = await stats('to=2026-11-05')
  t.equal(empty.groups.length, 30, 'a chart has each day')
  t.match(empty, { from: '2026-10-07', total: { mails: 0, rates: { delivery: null } } })

  const rig = await openCampaigns(t, { store, accountId, clock: systemClock })
  await rig.addMany(3)
  const campaign = await rig.create()
  await rig.expand()
  const sent = await until(`broadcastId=${campaign.id}`, (json) => json.total.mails === 3)
  t.match(sent.total, { mails: 3, accepted: 3 })
  t.match(await stats('groupBy=broadcast&type=marketing'), {
    groups: [{ broadcastId: campaign.id, mails: 3 }],
  })

  const stranger = await posthorn.addAccount('Stranger')
  t.match(await stats('groupBy=domain', stranger.apiKey), { total: { mails: 0 }, groups: [] })
  t.match(await stats(`broadcastId=${campaign.id}`, stranger.apiKey), { total: { mails: 0 } })

  await until('', (json) => json.upToDate)
  for (let waited = 0; ; waited += 20) {
    const row = await store.read.selectFrom('figure_cursors').selectAll().executeTakeFirstOrThrow()
    const last = await store.read
      .selectFrom('events')
      .select('id')
      .orderBy('id', 'desc')
      .executeTakeFirst()
    if (row.event_id === last?.id) break
    if (waited > 60_000) throw new Error('The figures are not brought forward')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.pass('a thread brings the figures forward')
})

t.test('a domain is asked for in any of its forms', async (t) => {
  const { domain } = questionOf({ domain: 'Bücher.Test.' }, 0)
  t.equal(domain, 'xn--bcher-kva.test')
  t.equal(questionOf({ domain: 'Sender.test' }, 0).domain, 'sender.test')
  t.equal(questionOf({}, 0).domain, undefined)
})

t.test('hostile questions are refused in words', async (t) => {
  const { call } = await startPosthorn(t)
  const refused = async (query: string, error: RegExp) => {
    const { status, json } = await call('GET', `/v1/stats?${query}`)
    t.equal(status, 400, query)
    t.match(JSON.stringify(json.error), error, query)
  }
  await refused('from=2026-02-30', /is not a day of the calendar/)
  await refused('from=-000001-01-01', /is not a day of the calendar/)
  await refused('to=yesterday', /is not a day of the calendar/)
  await refused('from=9999-12-31', /after `to`/)
  await refused('from=1970-01-01', /at most 366/)
  await refused('from=2025-11-20&to=2026-11-20&groupBy=day,domain&limit=100', /at most 5000/)
  await refused('groupBy=', /one or two of/)
  await refused('groupBy=day,day', /one or two of/)
  await refused('groupBy=day,domain,type', /one or two of/)
  await refused('groupBy=__proto__', /one or two of/)
  await refused('groupBy=tag&provider=Google', /not kept by provider and tag together/)
  await refused('groupBy=tag&broadcastId=00000000-0000-7000-8000-000000000000', /together/)
  await refused('tag=', /`tag` is empty/)
  await refused('limit=0', /1 to 100/)
  await refused('limit=1e3', /1 to 100/)
  await refused('type=spam', /transactional or marketing/)
  await refused('broadcastId=1', /UUID/i)
  for (const query of [
    "domain='%3B--",
    'provider=%00',
    'tag=%F0%9F%92%8C:*',
    `domain=${'x'.repeat(4_000)}`,
  ]) {
    t.match(await call('GET', `/v1/stats?${query}`), {
      status: 200,
      json: { total: { delivered: 0 } },
    })
  }
})
