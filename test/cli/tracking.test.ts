import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { databaseIn } from '../support/store.js'
import { openPlace } from './place.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('tracking is switched, and shown with a mail', async (t) => {
  const { data, run, json, refused, publish } = await openPlace(t)
  const account = await json<{ id: string }>('account', 'create', 'City')
  const domain = await json<{ id: string }>('domain', 'add', 'city.example')

  t.match(await json('account', 'tracking', 'City'), {
    opens: true,
    opensOfTransactional: false,
    clicks: true,
    own: { opens: null, clicks: null },
  })
  const off = await run('account', 'tracking', 'City', '--opens', 'off')
  t.match(
    off.stdout,
    /^Opens +not tracked$\nIn transactional mail +not, .*\nClicks +tracked, as the settings have it$/m,
  )
  t.match(await json('domain', 'tracking', 'city.example', '--clicks', 'off'), {
    opens: false,
    clicks: false,
    own: { opens: null, clicks: false },
    host: null,
  })
  t.match(await json('domain', 'tracking', 'city.example', '--clicks', 'default'), { clicks: true })
  await refused(
    /"http:\/\/x" is not a domain name/,
    'domain',
    'tracking',
    'city.example',
    '--host',
    'http://x',
  )

  const host = ['domain', 'tracking', 'city.example', '--host', 'Links.City.example']
  t.match(await json(...host), { host: 'links.city.example', hostReady: false })
  const waiting = await run('domain', 'show', 'city.example')
  t.match(waiting.stdout, 'the appliance, until the DNS leads links.city.example here')
  t.match(waiting.stdout, /^links\.city\.example\. +3600 IN CNAME mail\.appliance\.test\.$/m)
  publish('links.city.example', { cname: 'mail.appliance.test' })
  t.match(await json('domain', 'verify', 'city.example', '--trust'), { trackingHostReady: true })
  t.match((await run('domain', 'tracking', 'city.example')).stdout, /^Host +links\.city\.example$/m)
  t.match(await json('domain', 'tracking', 'city.example', '--no-host'), {
    host: null,
    hostReady: false,
  })

  const store = await openStore({
    ...(await databaseIn(data)),
    clock: systemClock,
    turns: makeTurns(),
    slot: 0,
  })
  const id = store.ids.uuid()
  const at = Date.parse('2026-11-21T12:00:00Z')
  const event = (type: 'opened' | 'clicked', detail: object) => ({
    account_id: account.id,
    email_id: id,
    delivery_id: 1,
    recipient: 'a@one.test',
    class: 0 as const,
    type,
    at,
    reply: null,
    detail: JSON.stringify(detail),
  })
  await store.write(async (tx) => {
    await tx
      .insertInto('emails')
      .values({
        id,
        account_id: account.id,
        domain_id: domain.id,
        from_header: 'x@city.example',
        to_list: '["a@one.test"]',
        subject: 'Hi',
        type: 'transactional',
        status: 'delivered',
        message_id: `<${id}@city.example>`,
        provider: 'primary',
        waiting: 0,
        delivered: 1,
        bounced: 0,
        failed: 0,
        created_at: at,
        opens: 2,
        opened_at: at,
      })
      .execute()
    await tx
      .insertInto('events')
      .values([
        event('opened', { userAgent: 'Thunderbird' }),
        event('opened', { userAgent: 'x', machine: true, sign: 'Barracuda' }),
        event('clicked', {
          userAgent: 'x',
          machine: true,
          sign: '3 links at once',
          url: 'https://x.test/',
        }),
      ])
      .execute()
    await tx
      .insertInto('deliveries')
      .values({
        id: 2,
        email_id: id,
        recipient: 'no@one.test',
        status: 'suppressed',
        attempts: 0,
        reply: null,
        remote: null,
        tls: null,
        transcript: null,
        ended_at: 0,
      })
      .execute()
  })
  await store.close()
  const shown = await run('email', 'show', id)
  t.match(shown.stdout, /^Opens +2, first 2026-11-21T12:00:00\.000Z; 1 more by machines$/m)
  t.match(shown.stdout, /^Clicks +0; 1 more by machines$/m)
  t.match(shown.stdout, / suppressed +no@one\.test/)
  t.match(shown.stdout, / opened +a@one\.test +Thunderbird$/m)
  t.match(shown.stdout, / opened +a@one\.test +\[machine: Barracuda]$/m)
  t.match(
    shown.stdout,
    / clicked +a@one\.test +https:\/\/x\.test\/ {2}\[machine: 3 links at once]$/m,
  )

  const agents = join(data, 'tracking-agents.toml')
  writeFileSync(agents, '[[agents]]\nname = "x"\n')
  await refused(/Bad tracking agents .*tracking-agents\.toml/, 'config', 'check')
  rmSync(agents)
  t.match((await run('config', 'check')).stdout, /tracking-agents\.toml is good$/m)
})
