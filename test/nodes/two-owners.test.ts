// Issue 46: every duty has two owners for good, and nothing happens twice: each effect keeps its own condition.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { dutyNames } from '../../src/nodes/index.js'
import { becomes, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'

t.setTimeout(900_000)
const people = 60
const shoppers = 12

/** Whoever asks for the duties finds all of them to be its own, and nobody's share is too large. */
const allAreMine = `
  alter table duties rename to duties_of_all;
  create view duties as select name, (select epoch from nodes
    where number = current_setting('posthorn.node')::bigint) as epoch, since from duties_of_all;
  create rule untaken as on update to duties do instead nothing;
  update nodes set version = 'other' where number = 2`

t.test('two owners of each duty, for good', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const { mx, ask } = rig
  const env = {
    POSTHORN_HTTP_PUBLIC_URL: 'https://mail.example.test',
    POSTHORN_OPERATOR_NOTIFY: 'ops@d0.test',
    POSTHORN_OPERATOR_FROM: 'a@example.test',
  }
  const nodes = [await rig.start('mail1', env), await rig.start('mail2', env)] as const
  const count = async (of: string) =>
    (await ask<{ n: number }>(`select count(*)::int as n from ${of}`))[0]?.n ?? 0
  let turn = 0
  const call = async (path: string, body: object, method = 'POST') => {
    const isForm = body instanceof FormData
    const response = await fetch(`${nodes[turn++ % 2]?.url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${rig.apiKey}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm ? body : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  const account = (await ask<{ id: string }>('select id from accounts'))[0]?.id ?? ''
  const planned = await rig.run('mail1', [
    'account',
    'set-marketing-plan',
    account,
    'Marketing Pro',
  ])
  t.equal(planned.status, 0, planned.stderr)
  await becomes(
    () => count('duties'),
    (n) => n === dutyNames.length,
    20_000,
  )
  await ask(allAreMine)
  await becomes(
    async () =>
      nodes.map((node) => new Set(node.log().match(/"duty":"[^"]+","msg":"This node does/g)).size),
    (each) => each.every((n) => n === dutyNames.length),
    20_000,
  )

  /** By mail, the events that were told of it, in the order in which each came first. */
  const heard = new Map<string, string[]>()
  let posts = 0
  const receiver = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { event, emailId } = JSON.parse(text)
    posts++
    const events = heard.get(emailId) ?? []
    if (!events.includes(event)) heard.set(emailId, [...events, event])
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.teardown(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  const events = ['email.sent', 'email.delivered']
  await call('/webhooks', { url: `http://127.0.0.1:${port}/`, events })

  await call('/brand', { defaultFrom: 'a@example.test' }, 'PATCH')
  const list = await call('/contacts/lists', { name: 'Readers' })
  const asked = await call('/contacts/lists', { name: 'Asked' })
  const file = new FormData()
  const rows = Array.from({ length: people }, (_, n) => `p${n}@d${n % 4}.test\n`)
  file.append('file', new Blob([`email\n${rows.join('')}`]), 'a.csv')
  await call(`/contacts/${list.id}/import`, file)
  const rule = { field: 'contact.email', operator: 'contains', value: '@d1.' }
  const segment = await call('/segments', { name: 'Ones', rule })
  await call('/templates', { slug: 'hello', name: 'Hello', subject: 'Paid', html: '<p>Paid</p>' })
  const steps = [
    { key: 'start', type: 'trigger', config: { eventName: 'paid' } },
    { key: 'rests', type: 'delay', config: { duration: 'PT2S' } },
    { key: 'mails', type: 'send_email', config: { template: 'hello', from: 'a@example.test' } },
  ]
  const connections = [
    { from: 'start', to: 'rests', type: 'default' },
    { from: 'rests', to: 'mails', type: 'default' },
  ]
  const automation = await call('/automations', { name: 'Paid', steps, connections })
  await call(`/automations/${automation.id}/enable`, {})

  await call('/broadcasts', {
    from: 'a@example.test',
    name: 'News',
    listId: list.id,
    subject: 'News',
    html: '<p>News',
  })
  for (let n = 0; n < shoppers; n++)
    await call('/events/send', { event: 'paid', email: `p${n}@d${n % 4}.test` })
  await call('/contacts/bulk', {
    do: 'add',
    list: list.id,
    q: 'p1',
    target: asked.id,
    confirm: true,
  })
  await call('/contacts/bulk', { do: 'set', list: list.id, metadata: { town: 'Lagos' } })
  const toAsk = Array.from({ length: people }, (_, n) => `p${n}`).filter((p) => p.startsWith('p1'))
  const wanted = people + shoppers + toAsk.length
  await becomes(
    () => count("emails where status = 'delivered'"),
    (n) => n >= wanted,
    180_000,
  )
  await becomes(
    () => count("tasks where state <> 'done'"),
    (n) => n === 0,
    60_000,
  )

  // The same jobs of the calendar at both, at once.
  const jobs = ['retention', 'weekly-report', 'operator-mail']
  for (const job of jobs) {
    const runs = await Promise.all(
      ['mail1', 'mail2'].map((name) => rig.run(name, ['job', 'run', job, '--json'])),
    )
    for (const { status, stdout, stderr } of runs) t.equal(status, 0, `${job}: ${stdout}${stderr}`)
  }
  const mailed = wanted + 1
  await becomes(
    () => count("emails where status = 'delivered'"),
    (n) => n >= mailed,
    60_000,
  )
  await becomes(
    async () => [...heard.values()].filter((told) => told.length === events.length).length,
    (n) => n >= wanted,
    60_000,
  )
  const counted = () =>
    ask<{ accepted: number; delivered: number }>(
      "select coalesce(sum(accepted), 0)::int as accepted, coalesce(sum(delivered), 0)::int as delivered from figures where breakdown = 'broadcast'",
    )
  await becomes(counted, ([row]) => (row?.delivered ?? 0) >= mailed, 60_000)
  await becomes(
    () => count('webhook_jobs'),
    (n) => n === 0,
    60_000,
  )

  const twice = (what: string, from: string) =>
    ask(`select ${what}, count(*)::int as n from ${from} group by ${what} having count(*) > 1`)
  t.equal(await count('emails'), mailed, 'mails')
  t.equal(mx.messages.length, mailed, 'copies that arrived')
  t.same(
    await twice(
      'recipient, broadcast_id',
      'deliveries join emails on emails.id = email_id where broadcast_id is not null',
    ),
    [],
  )
  t.same(
    await twice(
      'recipient',
      'deliveries join emails on emails.id = email_id where automation_step_id is not null',
    ),
    [],
  )
  t.same(
    await twice('email_id, type', "events where type in ('accepted', 'sent', 'delivered')"),
    [],
  )
  t.same(await twice('email_id, event', 'webhook_deliveries'), [], 'the log of webhooks')
  t.ok(
    [...heard.values()].every(([first]) => first === 'email.sent'),
    'in the order of each mail',
  )
  t.match(await ask('select recipients::int as n from broadcasts'), [{ n: people }])
  t.match(await ask('select status, count(*)::int as n from automation_runs group by 1'), [
    { n: shoppers },
  ])
  t.equal(await count(`segment_members where segment_id = '${segment.id}'`), people / 4)
  t.match(
    await ask(
      "select done::int as done, total::int as total from tasks where kind = 'bulk' order by id",
    ),
    [
      { done: toAsk.length, total: toAsk.length },
      { done: people, total: people },
    ],
  )
  t.equal(await count("notice_mails where kind = 'daily'"), 1, 'one mail of the day')
  t.match(await counted(), [{ accepted: mailed, delivered: mailed }])
  t.comment(`${posts} webhooks for ${events.length * mailed}: they come at least once`)
})
