// Issue 46: what a node did for all goes on at another one within 15 seconds of its death: a campaign, and webhooks.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { dutyNames, holdsPart } from '../../src/nodes/index.js'
import { becomes, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'

const people = 400
const slackMs = process.env.CI === 'true' ? 15_000 : 10_000

t.test('duties of a node that is killed', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const { mx, ask } = rig
  const env = { POSTHORN_HTTP_PUBLIC_URL: 'https://mail.example.test' }
  const nodes = { mail1: await rig.start('mail1', env), mail2: await rig.start('mail2', env) }
  const ownerOf = async (duty: string) => {
    const [row] = await becomes(
      () =>
        ask<{ name: 'mail1' | 'mail2' }>(
          `select nodes.name from duties join nodes using (epoch) where duties.name = '${duty}'`,
        ),
      (rows) => rows.length === 1,
      20_000,
    )
    return row?.name ?? 'mail1'
  }
  const call = async (node: { url: string }, path: string, body: object) => {
    const isForm = body instanceof FormData
    const response = await fetch(`${node.url}${path}`, {
      method: 'POST',
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
  /** By mail, the events that were told of it, each once, in their order. */
  const heard = new Map<string, string[]>()
  const receiver = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { event, emailId } = JSON.parse(text)
    const events = heard.get(emailId) ?? []
    if (!events.includes(event)) heard.set(emailId, [...events, event])
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.teardown(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  await call(nodes.mail1, '/v1/webhooks', {
    url: `http://127.0.0.1:${port}/`,
    events: ['email.sent', 'email.delivered'],
  })
  const list = await call(nodes.mail1, '/v1/contacts/lists', { name: 'Readers' })
  const file = new FormData()
  const rows = Array.from({ length: people }, (_, n) => `p${n}@d${n % 4}.test\n`)
  file.append('file', new Blob([`email\n${rows.join('')}`]), 'a.csv')
  await call(nodes.mail1, `/v1/contacts/${list.id}/import`, file)

  // So that duties have moved to who came second, and stay.
  await becomes(
    () => ask<{ n: number }>('select count(*)::int as n from duties group by epoch'),
    (rows) => rows.length === 2 && rows.every(({ n }) => n <= Math.ceil(dutyNames.length / 2)),
    40_000,
  )
  const campaign = await call(nodes.mail2, '/v1/broadcasts', {
    from: 'a@example.test',
    name: 'News',
    listId: list.id,
    subject: 'News',
    html: '<p>News',
  })
  const part = dutyNames.find((name) =>
    holdsPart({ isOthers: (duty) => dutyNames[duty] !== name }, 'expand', campaign.id),
  )
  const owner = await ownerOf(part ?? '')
  const other = owner === 'mail1' ? 'mail2' : 'mail1'
  await nodes[owner].kill('SIGKILL')
  const killedAt = performance.now()
  const made = async () =>
    (await ask<{ n: number }>('select recipients::int as n from broadcasts'))[0]?.n ?? 0
  const before = await made()
  await becomes(made, (n) => n === people || n > before, 60_000)
  const tookMs = performance.now() - killedAt
  t.comment(`${before} were made; the campaign went on ${Math.round(tookMs)} ms after the kill`)
  t.ok(tookMs <= 15_000 + slackMs, `${tookMs} ms`)
  for (const duty of dutyNames)
    t.equal(
      await becomes(
        () => ownerOf(duty),
        (name) => name === other,
        20_000,
      ),
      other,
      duty,
    )
  await becomes(
    () => ask<{ n: number }>('select count(*)::int as n from queue'),
    ([row]) => row?.n === 0,
    180_000,
  )
  const recipients = await ask<{ recipient: string }>('select recipient from deliveries')
  t.equal(recipients.length, people, 'each once')
  t.equal(new Set(recipients.map(({ recipient }) => recipient)).size, people)
  t.ok(mx.messages.length <= people + 20, `${mx.messages.length}: twice at most what was in hand`)
  await becomes(
    async () => [...heard.values()].filter((events) => events.includes('email.delivered')).length,
    (n) => n === people,
    60_000,
  )
  t.ok(
    [...heard.values()].every(([first]) => first === 'email.sent'),
    'in the order of each mail',
  )
})
