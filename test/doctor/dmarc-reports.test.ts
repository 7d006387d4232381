import t from 'tap'
import { doctorRig } from '../support/doctor.js'

const dayMs = 86_400_000

/** The appliance's own address is 127.0.0.1. */
async function reported(
  rig: Awaited<ReturnType<typeof doctorRig>>,
  rows: readonly { source: string; messages: number; passed: boolean; proven?: boolean }[],
) {
  const day = Math.floor(Date.now() / dayMs) - 1
  await rig.store.write(async (tx) => {
    const { id } = await tx.selectFrom('domains').select('id').executeTakeFirstOrThrow()
    const of = { domain_id: id, day, reporter: 'google.com' }
    for (const { source, messages, passed, proven = true } of rows) {
      const row = { ...of, source, messages, dkim: passed ? 1 : 0, spf: 0, forwarded: 0 }
      const rest = { proven: proven ? 1 : 0, disposition: 'none' as const, identifiers: '' }
      await tx
        .insertInto('dmarc_sources')
        .values({ ...row, ...rest })
        .execute()
    }
    const ends = { begins_at: day * dayMs, ends_at: (day + 1) * dayMs }
    const report = { ...of, ...ends, proof: 'google.com', report_id: 'r', messages: 1 }
    await tx
      .insertInto('dmarc_reports')
      .values({ ...report, policy: 'none' })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
}

t.test('mail of our own that receivers saw fail is told, and what passes is well', async (t) => {
  const rig = await doctorRig(t)
  t.same(await rig.look('dmarc-reports'), [], 'nothing was reported')
  await reported(rig, [{ source: '127.0.0.1', messages: 1_000, passed: true }])
  t.match(await rig.look('dmarc-reports'), [
    { subject: 'shop.test', state: 'ok', found: /^1,000 of 1,000 messages passed/, fix: '' },
  ])
  await reported(rig, [{ source: '127.0.0.1', messages: 15, passed: false }])
  t.match(await rig.look('dmarc-reports'), [{ state: 'ok' }], 'a few always fail')
  await reported(rig, [{ source: '127.0.0.1', messages: 90, passed: false, proven: false }])
  t.match(await rig.look('dmarc-reports'), [{ state: 'ok' }], 'anybody can have written those')
  await rig.store.write((tx) =>
    tx.updateTable('dmarc_sources').set({ messages: 60 }).where('messages', '=', 15).execute(),
  )
  t.match(await rig.look('dmarc-reports'), [
    {
      state: 'warn',
      found: /^60 of 1060 messages of our own from 127\.0\.0\.1 failed DMARC/,
      fix: /^'posthorn domain verify shop\.test'/,
    },
  ])
})

t.test('strangers that send under p=none are told, with the policy to publish', async (t) => {
  const rig = await doctorRig(t)
  await reported(rig, [
    { source: '198.51.100.7', messages: 4, passed: false },
    { source: '198.51.100.8', messages: 5, passed: false },
  ])
  t.match(await rig.look('dmarc-reports'), [
    {
      state: 'warn',
      found: /^p=none, and strangers sent 9 messages/,
      fix: /publish p=quarantine in _dmarc\.shop\.test/,
    },
  ])
  await rig.store.write((tx) => tx.updateTable('dmarc_reports').set({ policy: 'reject' }).execute())
  t.match(await rig.look('dmarc-reports'), [{ state: 'ok' }], 'receivers refuse them already')
})

t.test('reports that come to another domain need its word', async (t) => {
  const { look, resolver } = await doctorRig(t)
  const name = 'shop.test._report._dmarc.mail.posthorn.test'
  const policy = 'v=DMARC1; p=none; rua=mailto:b@else.test, mailto:dmarc@mail.posthorn.test!10m'
  resolver.set('_dmarc.shop.test', { txt: [policy] })
  resolver.set(name, { txt: ['v=DMARC1;'] })
  t.match(await look('dmarc-authorisation'), [{ subject: 'shop.test', state: 'ok' }])
  resolver.set(name, undefined)
  t.match(await look('dmarc-authorisation'), [
    { state: 'warn', fix: `publish ${name}. 3600 IN TXT "v=DMARC1;"` },
  ])
  resolver.set(name, { fail: 'SERVFAIL' })
  t.match(await look('dmarc-authorisation'), [
    { state: 'unchecked', found: /no answer of the DNS/ },
  ])
  resolver.set('_dmarc.shop.test', { txt: ['v=DMARC1; p=none; rua=mailto:a@else.test'] })
  t.same(await look('dmarc-authorisation'), [], 'they go elsewhere')
})

t.test('reports about TLS that no domain can send are told', async (t) => {
  const { look, store } = await doctorRig(t)
  t.match(await look('tls-reports'), [{ state: 'ok', found: /tls-reports@shop\.test/ }])
  await store.write((tx) => tx.updateTable('domains').set({ status: 'pending' }).execute())
  t.match(await look('tls-reports'), [{ state: 'warn', fix: /tls_reports\.enabled = false$/ }])
  const off = await doctorRig(t, { env: { POSTHORN_TLS_REPORTS_ENABLED: 'false' } })
  t.same(await off.look('tls-reports'), [])
})
