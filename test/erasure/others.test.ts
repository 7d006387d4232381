// Erasure and download of whoever has the right to it, beside others, at a running appliance.
import t from 'tap'
import { noteAudit } from '../../src/audit/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { cancelWaiting } from '../../src/deliveries/index.js'
import type { EmailRecord } from '../../src/emails/index.js'
import { downloadOf, findErasure, makeErasures } from '../../src/erasure/index.js'
import { silentLog } from '../../src/log/index.js'
import { createTask } from '../../src/tasks/index.js'

import { eventually } from '../support/eventually.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { call, store, accountId, send, until } = posthorn
const { read } = store
const domain = 'simulator.posthorn.test'
const mail = { from: 'a@sender.test', subject: 'Hello', html: '<p>x</p>' }
const erase = '/v1/contacts/erasures'

/** Lets an erasure go on from where it is, until it is done, or has come to what waits for others. */
async function settled(id: number, isToWait = false) {
  const erasures = makeErasures({ store, clock, log: silentLog })
  await erasures.resume()
  for (;;) {
    const { state, detail, result } = await findErasure(read, accountId, id)
    if (state === 'failed') throw new Error(result.reason)
    const isWaiting = detail.place.in === 'others' && detail.place.after === undefined
    if (state === 'done' || (isToWait && isWaiting)) {
      await erasures.close()
      return state
    }
    await pause(clock, 10)
  }
}

const gotIt = ({ recipients }: EmailRecord) =>
  recipients.filter(({ status }) => status === 'delivered').length

const everywhere = async (...tables: ('emails' | 'deliveries' | 'events' | 'queue')[]) =>
  JSON.stringify(
    await Promise.all(tables.map((table) => read.selectFrom(table).selectAll().execute())),
  ).toLowerCase()

t.test('who is no contact is erased, once, by whoever asks', async (t) => {
  const address = `delivered+log@${domain}`
  const { id } = (await send({ ...mail, to: `Log <${address}>` })).json
  await until(id, ({ status }) => status === 'delivered')
  const first = await call('POST', erase, { body: { address: address.toUpperCase() } })
  t.equal(first.status, 202)
  const again = await call('POST', erase, { body: { address } })
  t.equal(again.json.name, first.json.name, 'the same stands for it')
  await settled(Number(first.json.id))
  await settled(Number(again.json.id))
  t.notMatch(await everywhere('emails', 'deliveries', 'events'), 'delivered+log@')
  t.notMatch(await everywhere('emails'), '"log <', 'the name went with the address')
  const asked = await call('GET', `${erase}/${first.json.id}`)
  t.match(asked.json, { state: 'done', waiting: 0, reason: null, stays: [{ what: /hash/ }] })
  const { json } = await call('GET', `/v1/contacts/downloads/${encodeURIComponent(address)}`)
  t.match(json, { contact: null, wasErased: true, mails: [], hasMore: false })
  const found = await call('GET', `/v1/emails?to=${encodeURIComponent(first.json.name)}`)
  t.match(found.json.emails, [{ id }], 'the mail is found by what stands in its place')
})

t.test('mail to several stays whole for those who wait, and keeps how it went', async (t) => {
  const gone = `deferred+gone@${domain}`
  const { id: got } = (await send({ ...mail, to: [`delivered+b@${domain}`, gone] })).json
  await until(got, (found) => gotIt(found) === 1)
  // The other one was tried, and is tried again in a while.
  await eventually(async () => {
    const rest = { due_at: clock.now() + 3_600_000 }
    const tried = await store.write((tx) =>
      tx
        .updateTable('queue')
        .set(rest)
        .where('lease', 'is', null)
        .where('attempts', '>', 0)
        .returning('id')
        .execute(),
    )
    return tried.length === 1
  }, 10_000)
  const others = `delivered+other@${domain}`
  const to = [gone, others]
  const scheduledAt = new Date(clock.now() + 3_600_000).toISOString()
  const { id: waits } = (await send({ ...mail, to, scheduledAt })).json
  const { json } = await call('POST', erase, { body: { address: gone } })
  const task = Number(json.id)
  t.equal(await settled(task, true), 'running', 'it waits for the other one')
  t.match((await call('GET', `${erase}/${json.id}`)).json, { waiting: 1, state: 'running' })
  t.match(await posthorn.email(got), { status: 'delivered' }, 'who got it, got it')
  t.match(
    await posthorn.email(waits),
    { to: to.join(', '), status: 'scheduled' },
    'the copy that waits says whom it is to',
  )
  t.notMatch(await everywhere('queue', 'deliveries', 'events'), 'deferred+gone@')
  const rows = await read.selectFrom('queue').select(['id', 'recipient']).execute()
  t.same(
    rows.map(({ recipient }) => recipient),
    [others],
  )
  await store.write((tx) =>
    cancelWaiting(
      tx,
      rows.map(({ id }) => id),
      clock.now(),
    ),
  )
  t.equal(await settled(task), 'done')
  t.notMatch(await everywhere('emails'), 'deferred+gone@')
})

t.test('nothing that only quotes the address is left behind', async (t) => {
  const address = `bounced+quoted@${domain}`
  const tags = [{ name: 'for', value: address }]
  const { id } = (await send({ ...mail, to: address, tags }, { 'idempotency-key': 'one' })).json
  await until(id, ({ status }) => status === 'bounced')
  const begun = clock.now()
  const made = { accountId, startedBy: 'u', total: 0 } as const
  const order = { do: 'delete', search: { q: address }, by: 'api' }
  const bulk = { ...made, kind: 'bulk', detail: { order } } as const
  const live = await store.write(async (tx) => {
    const ended = await createTask(tx, { ...bulk, state: 'done' }, begun)
    await tx.updateTable('tasks').set({ ended_at: begun }).where('id', '=', ended).execute()
    const imported = { ...made, kind: 'import', state: 'paused', detail: {} } as const
    const task_id = await createTask(tx, imported, begun)
    const row = (line: number) => ({ task_id, line, reason: 'No', cells: `["${address}"]` })
    await tx
      .insertInto('import_refusals')
      .values(Array.from({ length: 450 }, (_, n) => row(n + 2)))
      .execute()
    await tx
      .insertInto('submission_sessions')
      .values({
        id: 1,
        account_id: accountId,
        key_last4: null,
        user: null,
        listener: 'tls',
        remote_address: '192.0.2.1',
        helo: 'x',
        tls: null,
        began_at: begun,
        ended_at: begun,
        accepted: 0,
        refused: 1,
        verdict: 'refused',
        email_ids: '[]',
        transcript: `C: RCPT TO:<${address}>`,
      })
      .execute()
    await tx
      .insertInto('idempotency_keys')
      .values({
        account_id: accountId,
        key: 'two',
        fingerprint: '',
        status: 201,
        response: JSON.stringify({ email: address }),
        created_at: begun,
      })
      .execute()
    await noteAudit(tx, {
      at: begun,
      accountId,
      actor: { kind: 'system', name: 'test', userId: null, clientAddressKey: null },
      action: 'contact.add',
      target: `/contacts?q=${encodeURIComponent(address)}`,
      detail: {},
    })
    return await createTask(tx, { ...bulk, state: 'paused' }, begun)
  })
  const { json } = await call('POST', erase, { body: { address } })
  await settled(Number(json.id))
  for (const table of [
    'emails',
    'email_tags',
    'deliveries',
    'deferred_transcripts',
    'events',
    'suppressions',
    'tasks',
    'import_refusals',
    'submission_sessions',
    'idempotency_keys',
    'audit_log',
  ] as const) {
    const text = JSON.stringify(await read.selectFrom(table).selectAll().execute()).toLowerCase()
    t.notMatch(text, address, table)
    t.notMatch(text, encodeURIComponent(address).toLowerCase(), table)
  }
  const [row] = await read.selectFrom('tasks').select('state').where('id', '=', live).execute()
  t.equal(row?.state, 'stopped', 'work that looks for them alone has ended')
  const tagged = await call('GET', `/v1/emails?tag=for:${encodeURIComponent(json.name)}`)
  t.match(tagged.json.emails, [{ id }])
})

t.test('a file has events, runs, and what became of mail beside many others', async (t) => {
  const to = [
    `delivered+z@${domain}`,
    ...Array.from({ length: 8 }, (_, n) => `delivered+${n}@${domain}`),
  ]
  const { id } = (await send({ ...mail, to })).json
  await until(id, (found) => gotIt(found) === to.length)
  const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'L' } })).json.id
  await call('POST', `/v1/contacts/${list}`, { body: { email: to[0] } })
  const config = { metadata: { paid: true } }
  const definition = {
    name: 'Paid',
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: 'paid' } },
      { key: 'note', type: 'contact_update', config },
    ],
    connections: [{ from: 'start', to: 'note', type: 'default' }],
  }
  const automation = (await call('POST', '/v1/automations', { body: definition })).json.id
  await call('POST', `/v1/automations/${automation}/enable`)
  const event = { event: 'paid', email: to[0], payload: { of: 'x' } }
  t.equal((await call('POST', '/v1/events/send', { body: event })).status, 202)
  await eventually(async () => {
    const runs = await call('GET', `/v1/automations/${automation}/runs`)
    return runs.json.runs[0]?.status === 'completed'
  }, 10_000)
  const { json } = await call('GET', `/v1/contacts/downloads/${to[0]}`)
  t.match(json.events, [{ name: 'paid', payload: { of: 'x' } }])
  t.match(json, {
    contact: { email: to[0] },
    hasAllEvents: true,
    runs: [{ automation: 'Paid', status: 'completed' }],
  })
  t.equal(json.mails.length, 1)
  const types = json.mails[0].events.map(({ type }: { type: string }) => type)
  t.same(types, ['sent', 'delivered'], 'their own alone')
  t.notMatch(JSON.stringify(json.mails), 'delivered+3@', 'nothing of the others')
  // The end of a mail's events is found behind those of others.
  const row = { account_id: accountId, email_id: id, delivery_id: null, class: 0 as never }
  const opened = { ...row, type: 'opened' as const, at: 1, reply: null, detail: null }
  await store.write((tx) =>
    tx
      .insertInto('events')
      .values([
        ...Array.from({ length: 700 }, () => ({ ...opened, recipient: to[1] ?? '' })),
        { ...opened, recipient: to[0] ?? '' },
      ])
      .execute(),
  )
  const after = (await call('GET', `/v1/contacts/downloads/${to[0]}`)).json
  t.match(after.mails[0].events.at(-1), { type: 'opened' })
  let pieces = 0
  for await (const _ of downloadOf(read, accountId, to[0] ?? '', clock.now())) pieces++
  t.ok(pieces > 2, 'it comes in pieces')
})

t.test('an erasure that has failed goes on when it is asked for again', async (t) => {
  const address = 'nobody@example.org'
  const { json } = await call('POST', erase, { body: { address } })
  const id = Number(json.id)
  await settled(id)
  const detail = { name: json.name, address, place: { in: 'audit' } }
  const failed = {
    state: 'failed',
    detail: JSON.stringify(detail),
    result: '{"reason":"x"}',
  } as const
  await store.write((tx) => tx.updateTable('tasks').set(failed).where('id', '=', id).execute())
  t.match((await call('GET', `${erase}/${id}`)).json, { state: 'failed', reason: 'x' })
  const again = await call('POST', erase, { body: { address } })
  t.equal(again.json.id, json.id)
  t.equal(await settled(id), 'done')
})
