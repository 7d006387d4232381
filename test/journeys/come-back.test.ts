// Thorough: a whole appliance, until bounces and complaints come back.
// What was delivered comes back hours later: a bounce, a complaint, through the real listener.
import t from 'tap'
import { readTimeline } from '../../src/events/index.js'
import { suppressionsOf } from '../../src/suppression/index.js'
import { runCli } from '../cli/run.js'
import { eventually } from '../support/eventually.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'

const at = (local: string) => `${local}@simulator.posthorn.test`
const mail = { from: 'shop@sender.test', subject: 'Hi', html: '<p>Hi</p>' }

t.test('a late bounce and a complaint suppress whom they name', async (t) => {
  const posthorn = await startPosthorn(t)
  const send = async (to: string) => (await posthorn.send({ ...mail, to })).json.id as string
  const [late, annoyed, fine] = await Promise.all([
    send(at('late-bounce+1')),
    send(at('complained+1')),
    send(at('delivered+1')),
  ])

  const bounced = await posthorn.until(late ?? '', ({ status }) => status === 'bounced')
  t.match(bounced.recipients, [{ status: 'bounced', reply: /550 5\.1\.1 The mailbox is gone/ }])
  t.same(await typesOf(posthorn, late), ['sent', 'delivered', 'bounced'])
  await eventually(async () => (await typesOf(posthorn, annoyed)).includes('complained'), 15_000)
  t.equal((await posthorn.email(annoyed ?? '')).status, 'delivered')

  const reasons = async (local: string) =>
    (await suppressionsOf(posthorn.store.read, posthorn.accountId, at(local))).map(
      ({ reason }) => reason,
    )
  t.same(await reasons('late-bounce+1'), ['bounce'])
  t.same(await reasons('complained+1'), ['complaint'])
  t.same(await reasons('complained+2'), [], 'another address is another recipient')
  for (const local of ['late-bounce+1', 'complained+1']) {
    const id = await send(at(local))
    t.equal((await posthorn.email(id)).status, 'suppressed', `${local} is mailed no more`)
  }
  t.same(await typesOf(posthorn, fine), ['sent', 'delivered'], 'the others’ mail is as it was')
})

t.test('complaints that come back pause the account, on every thread', async (t) => {
  const posthorn = await startPosthorn(t, {
    env: { POSTHORN_PROTECTION_COUNT_SIMULATOR: 'true', POSTHORN_PROTECTION_MIN_RECIPIENTS: '20' },
  })
  const to = ['delivered', 'complained'].flatMap((local) =>
    Array.from({ length: local === 'delivered' ? 17 : 3 }, (_, i) => at(`${local}+${i}`)),
  )
  const body = { emails: to.map((address) => ({ ...mail, to: address })) }
  t.equal((await posthorn.call('POST', '/v1/emails/batch', { body })).status, 200)
  let refused = { status: 0, json: {} }
  await eventually(async () => {
    refused = await posthorn.send({ ...mail, to: at('delivered') })
    return refused.status !== 200
  }, 15_000)
  t.match(refused, { status: 503, json: { code: 'account_paused', reason: 'complaint' } })
})

t.test('the doctor sends itself reports, which change nothing', async (t) => {
  const posthorn = await startPosthorn(t, {
    dns: {
      '*': { fail: 'nxdomain' },
      'bounce.posthorn.test': { mx: [{ preference: 10, exchange: 'mail.posthorn.test' }] },
      'mail.posthorn.test': { a: ['127.0.0.1'] },
    },
  })
  const port = String(posthorn.appliance.inboundSmtpPort)
  const { stdout } = await runCli(['doctor', '--json'], {
    env: {
      POSTHORN_DATA: posthorn.dataDir,
      POSTHORN_INBOUND_PORT: port,
      POSTHORN_OUTBOUND_ROUTE: 'sandbox',
      POSTHORN_OUTBOUND_PORT: port,
      POSTHORN_OUTBOUND_RETURN_PATH_HOST: 'bounce.posthorn.test',
      POSTHORN_DOCTOR_SMTP_PROBES: '',
      POSTHORN_DOCTOR_BLOCKLISTS: '',
      POSTHORN_DOCTOR_TIME_SERVERS: '',
    },
  })
  const findings: { check: string; subject: string; state: string; found: string }[] =
    JSON.parse(stdout).findings
  t.match(
    findings.filter(({ check }) => check === 'report'),
    [
      { subject: 'a bounce', state: 'ok', found: /^taken and read/ },
      { subject: 'a complaint', state: 'ok', found: /^taken and read/ },
    ],
  )
  t.match(
    findings.find(({ check }) => check === 'listener'),
    { subject: 'bounce.posthorn.test', state: 'ok', found: /is this appliance$/ },
  )
  t.same(await posthorn.store.read.selectFrom('events').selectAll().execute(), [])
  t.same(await posthorn.store.read.selectFrom('suppressions').selectAll().execute(), [])
})

async function typesOf({ store, accountId }: Posthorn, id = ''): Promise<string[]> {
  return (await readTimeline(store.read, accountId, id)).map(({ type }) => type)
}
