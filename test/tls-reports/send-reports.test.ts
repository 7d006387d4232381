import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Store } from '../../src/store/index.js'
import type { ReportDocument } from '../../src/tls-reports/document.js'
import { sendTlsReports, type TlsReportDeps } from '../../src/tls-reports/index.js'
import { FakeClock } from '../support/clock.js'
import { outboundRig } from '../support/outbound.js'
import { testCertificates } from '../support/tls.js'
import { reportSchema } from './schema.js'

const certificates = await testCertificates(t, 'in.mx.test')
const web = await certificates.issue('reports.test')
const ajv = new Ajv({ strict: true, strictTypes: false })
// Its types are those of CommonJS.
;(formats as unknown as (ajv: Ajv) => void)(ajv)
const isReport = ajv.compile(reportSchema)
const hourMs = 3_600_000

/** Takes reports over TLS, and answers as it is told. */
async function reportServer(t: Test) {
  const taken: { type: string | undefined; report: ReportDocument }[] = []
  const said = { status: 201 }
  const server = createServer(web, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const report = JSON.parse(gunzipSync(Buffer.concat(chunks)).toString())
    taken.push({ type: request.headers['content-type'], report })
    response.writeHead(said.status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { taken, said, port: (server.address() as AddressInfo).port }
}

/** Mail to domains whose server has a certificate that is over, and the day after. */
async function dayAfter(t: Test, records: (port: number) => Record<string, string>) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 22))
  const receiver = await reportServer(t)
  const txt = records(receiver.port)
  const mx = { mx: [{ preference: 10, exchange: 'in.mx.test' }] }
  const rig = await outboundRig(t, {
    clock,
    countTls: true,
    script: { tls: certificates.expired },
    dns: {
      'in.mx.test': { a: ['127.0.0.1'] },
      'reports.test': { a: ['127.0.0.1'] },
      '*': mx,
      '_mta-sts.enforce.test': { txt: ['v=STSv1; id=1'] },
      '_smtp._tls.slow.test': { fail: 'SERVFAIL' },
      ...Object.fromEntries(Object.entries(txt).map(([name, text]) => [name, { txt: [text] }])),
    },
    tls: {
      ca: certificates.ca.cert,
      fetchPolicy: async () => ({
        body: 'version: STSv1\nmode: enforce\nmx: in.mx.test\nmax_age: 864000',
      }),
    },
  })
  const config = loadConfig({ env: {} })
  const deps: TlsReportDeps = {
    store: rig.store,
    clock,
    log: silentLog,
    resolver: rig.resolver,
    config: {
      ...config,
      outbound: { ...config.outbound, heloName: 'out.test' },
      webhooks: { allow: ['reports.test'] },
    },
    // What was written is found by the next start's look at the queue.
    ring() {},
    signal: new AbortController().signal,
    ca: certificates.ca.cert,
  }
  const send = async (domain: string) => {
    const id = await rig.send({ to: `a@${domain}` })
    return await rig.until(id, ({ status, recipients }) => {
      return status === 'delivered' || (recipients[0]?.attempts ?? 0) > 0
    })
  }
  /** Until all of yesterday's reports are due. */
  const nextDay = async () => {
    await rig.stop()
    await clock.advance(7 * hourMs)
  }
  const run = (others: Partial<TlsReportDeps> = {}) => sendTlsReports({ ...deps, ...others })
  return { rig, clock, deps, send, nextDay, run, receiver }
}

const reportMails = async ({ read }: Store) =>
  (await read.selectFrom('emails').select(['id', 'to_list', 'subject']).execute()).filter(
    ({ subject }) => subject.startsWith('Report Domain'),
  )

const byMail = 'v=TLSRPTv1; rua=mailto:tls@rua.test'
const both = (port: number) => `${byMail},https://reports.test:${port}/v1`

t.test('a domain that asks gets one report by mail and one by upload', async (t) => {
  const { rig, send, nextDay, run, receiver } = await dayAfter(t, (port) => ({
    '_smtp._tls.enforce.test': both(port),
    '_smtp._tls.open.test': byMail,
  }))
  for (const domain of ['enforce.test', 'open.test', 'silent.test', 'slow.test']) await send(domain)
  await nextDay()
  t.match(await run(), { figures: { asked: 3, reported: 2, uploaded: 1, failed: 0 } })
  t.match(await run(), { figures: { asked: 0, reported: 0, uploaded: 0 } }, 'and no second one')
  const before = rig.mx.messages.length
  await rig.start()
  const messages = await rig.mx.waitForMessages(before + 2)
  const received = messages.slice(before).filter(({ to }) => to.includes('tls@rua.test'))
  t.equal(received.length, 2)

  const raws = received.map(({ raw }) => Buffer.from(raw))
  const mails = await Promise.all(raws.map((raw) => PostalMime.parse(raw)))
  const at = mails.findIndex(({ subject }) => subject?.includes('enforce.test'))
  const [mail, raw] = [mails[at], raws[at] ?? Buffer.alloc(0)]
  const header = (name: string) => mail?.headers.find(({ key }) => key === name)?.value
  t.equal(header('tls-report-domain'), 'enforce.test')
  t.equal(header('tls-report-submitter'), 'sender.test')
  t.match(header('content-type'), /^multipart\/report; report-type="tlsrpt";/)
  t.match(
    mail?.subject,
    /^Report Domain: enforce.test Submitter: sender.test Report-ID: <.+@sender.test>$/,
  )
  t.match(raw.toString(), /^DKIM-Signature: .*d=sender\.test/ms)
  t.same(await bodyHashes(raw), [true, true], 'the signatures are of this very body')
  const [file] = mail?.attachments ?? []
  t.match(file, {
    mimeType: 'application/tlsrpt+gzip',
    filename: /^sender\.test!enforce\.test!1795219200!1795305599!\w{8}\.json\.gz$/,
  })
  const report = JSON.parse(gunzipSync(Buffer.from(file?.content as ArrayBuffer)).toString())
  t.ok(isReport(report), JSON.stringify(isReport.errors))
  t.match(report, {
    'organization-name': 'sender.test',
    'date-range': {
      'start-datetime': '2026-11-21T00:00:00Z',
      'end-datetime': '2026-11-21T23:59:59Z',
    },
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: enforce', 'mx: in.mx.test', 'max_age: 864000'],
          'policy-domain': 'enforce.test',
          'mx-host': ['in.mx.test'],
        },
        summary: { 'total-successful-session-count': 0, 'total-failure-session-count': 1 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '127.0.0.1',
            'receiving-mx-hostname': 'in.mx.test',
            'receiving-ip': '127.0.0.1',
            'failed-session-count': 1,
          },
        ],
      },
    ],
  })
  t.equal(receiver.taken.length, 1)
  t.equal(receiver.taken[0]?.type, 'application/tlsrpt+gzip')
  t.same(receiver.taken[0]?.report, report, 'both ways carry the same report')

  await rig.stop()
  const counted = await rig.store.read
    .selectFrom('tls_sessions')
    .select('domain')
    .where('domain', '=', 'rua.test')
    .execute()
  t.same(counted, [], 'no report is made about the way of reports')
})

/** Whether the hash of each DKIM signature is that of the body. */
async function bodyHashes(raw: Buffer): Promise<boolean[]> {
  const { results } = await dkimVerify(raw, {
    resolver: async () => {
      throw Object.assign(new Error('no keys here'), { code: 'ENOTFOUND' })
    },
  })
  return results.map((result) => {
    const { bodyHash, bodyHashExpecting } = result as unknown as Record<string, string>
    return bodyHash !== undefined && bodyHash === bodyHashExpecting
  })
}

t.test('a report leaves where the policy of its receiver cannot be met', async (t) => {
  const { rig, send, nextDay, run } = await dayAfter(t, () => ({
    '_smtp._tls.enforce.test': 'v=TLSRPTv1; rua=mailto:tls@enforce.test',
  }))
  await send('enforce.test')
  t.equal(rig.mx.messages.length, 0, 'other mail waits')
  await nextDay()
  await run()
  await rig.start()
  const [message] = await rig.mx.waitForMessages(1)
  t.match(message?.to, ['tls@enforce.test'])
})

/** One session a domain, of d0.test and so on. */
async function sessionsOf(store: Store, clock: FakeClock, domains: number): Promise<void> {
  const day = Math.floor(clock.now() / 86_400_000)
  const of = { day, policy_type: 'no-policy-found' as const, policy: '{"text":[],"mx":[]}' }
  const none = { result: '', reason: '', mx_host: '', mx_name: '' }
  const ends = { receiving_address: '', sending_address: '', sessions: 1 }
  await store.write(async (tx) => {
    for (let i = 0; i < domains; i++) {
      const row = { ...of, ...none, ...ends, domain: `d${i}.test` }
      await tx.insertInto('tls_sessions').values(row).execute()
    }
  })
}

t.test('what a domain gets is spread over four hours', async (t) => {
  const { rig, clock, run } = await dayAfter(t, () => ({}))
  await rig.stop()
  await sessionsOf(rig.store, clock, 200)
  const asked: number[] = []
  await clock.advance(2 * hourMs)
  for (let quarter = 0; quarter < 17; quarter++) {
    asked.push((await run()).figures.asked)
    await clock.advance(hourMs / 4)
  }
  t.equal(asked[0], 0, 'none while the last minute of the day may still be written')
  t.equal(
    asked.reduce((sum, some) => sum + some, 0),
    200,
  )
  t.ok(Math.max(...asked) < 40, `at once at most ${Math.max(...asked)}`)
})

t.test('one receiver gets a bounded number a day, whoever names it', async (t) => {
  const { rig, clock, nextDay, run } = await dayAfter(t, () => ({}))
  await sessionsOf(rig.store, clock, 130)
  await nextDay()
  const { resolver } = rig
  const askedFor = async (name: string) => ({
    kind: 'records' as const,
    records: [
      `v=TLSRPTv1; rua=mailto:${name}@victim.test,mailto:b@Victim.test,https://victim.test/${name}`,
    ],
  })
  await run({ resolver: { ...resolver, txt: askedFor } })
  // Counted by what is written, so a second run gives none either.
  await run({ resolver: { ...resolver, txt: askedFor } })
  const mails = (await reportMails(rig.store)).length
  const posts = await rig.store.read.selectFrom('tls_report_posts').select('uri').execute()
  t.equal(posts.length, 100, 'mails and uploads together, as the host is the same')
  t.ok(mails > 0 && mails < 100, `${mails} mails`)
  const decided = await rig.store.read.selectFrom('tls_reports').select('domain').execute()
  t.ok(decided.length >= 130, 'the others are decided too, and not asked again')
})

t.test('an upload that is not taken is tried again for a day, with the same id', async (t) => {
  const { send, nextDay, run, clock, receiver, rig } = await dayAfter(t, (port) => ({
    '_smtp._tls.open.test': `v=TLSRPTv1; rua=https://reports.test:${port}/v1`,
  }))
  await send('open.test')
  receiver.said.status = 500
  await nextDay()
  for (let quarter = 0; quarter < 4 * 40; quarter++) {
    await run()
    await clock.advance(hourMs / 4)
  }
  t.equal(receiver.taken.length, 9)
  t.equal(new Set(receiver.taken.map(({ report }) => report['report-id'])).size, 1)
  const [post] = await rig.store.read.selectFrom('tls_report_posts').selectAll().execute()
  t.match(post, { state: 'failed', cause: 'HTTP 500' })
})

t.test(
  'a crash between sending and noting repeats a bounded number of uploads, no mail',
  async (t) => {
    const { send, nextDay, run, clock, receiver, rig } = await dayAfter(t, (port) => ({
      '_smtp._tls.open.test': both(port),
    }))
    await send('open.test')
    await nextDay()
    const dies = () => Promise.reject(new Error('killed'))
    t.test('before anything is written', async (t) => {
      await t.rejects(run({ store: { ...rig.store, write: dies } }))
      t.same(await reportMails(rig.store), [])
    })
    t.test('behind the commit', async (t) => {
      const ring = () => {
        throw new Error('killed')
      }
      await t.rejects(run({ ring }))
      t.equal((await reportMails(rig.store)).length, 1)
      await run()
      t.equal((await reportMails(rig.store)).length, 1)
      t.equal(receiver.taken.length, 1)
    })
    t.test('behind each upload', async (t) => {
      await rig.store.write((tx) =>
        tx
          .updateTable('tls_report_posts')
          .set({ state: 'waiting', tries: 0 })
          .where('email_id', 'is', null)
          .execute(),
      )
      for (let quarter = 0; quarter < 4 * 40; quarter++) {
        let writes = 0
        // The first write notes that it begins, the second what came of it.
        const write: Store['write'] = (work) =>
          ++writes % 2 === 0 ? dies() : rig.store.write(work)
        const posts = receiver.taken.length
        await run({ store: { ...rig.store, write } }).catch(() => {})
        t.ok(receiver.taken.length <= posts + 1)
        await clock.advance(hourMs / 4)
      }
      t.equal(receiver.taken.length, 1 + 9)
      t.equal(new Set(receiver.taken.map(({ report }) => report['report-id'])).size, 1)
    })
  },
)

t.test('nothing goes to private addresses, nor without a domain that can sign', async (t) => {
  const { send, nextDay, run, receiver, rig, deps } = await dayAfter(t, (port) => ({
    '_smtp._tls.open.test': `v=TLSRPTv1; rua=https://reports.test:${port}/v1`,
  }))
  await send('open.test')
  await nextDay()
  await run({ config: { ...deps.config, webhooks: { allow: [] } } })
  t.equal(receiver.taken.length, 0)
  const [post] = await rig.store.read.selectFrom('tls_report_posts').select('cause').execute()
  t.match(post?.cause, /not at a public address/)
  await rig.store.write((tx) => tx.updateTable('domains').set({ status: 'pending' }).execute())
  t.match(await run(), { summary: 'No verified domain can send reports about TLS' })
})
