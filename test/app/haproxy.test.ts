// Thorough: a whole appliance behind a real HAProxy, with the settings of the example.
// Issue 'what operators and developers ask' 7: a client's address comes through a balancer that others have made.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTcp, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { listOperatorMails } from '../../src/inbound/index.js'
import { listSessions } from '../../src/submission/index.js'
import { get } from '../https/start.js'
import { Talk } from '../sandbox/talk.js'
import { startSubmission } from '../submission/start.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { RawConnection } from '../support/raw-http.js'
import { testCertificates } from '../support/tls.js'
import { absent } from '../support/tools.js'

t.setTimeout(120_000)
const client = '127.0.7.9'
const balancer = '127.0.1.1'

t.test("clients' addresses come through HAProxy", { skip: absent('haproxy') }, async (t) => {
  const { valid } = await testCertificates(t, 'links.example.test')
  const files = { certificate: valid.certFile, key: valid.keyFile }
  const from = [balancer]
  const { appliance, store, accountId, ports } = await startSubmission(t, {
    settings: {
      http: {
        proxy_protocol_from: from,
        public: {
          url: 'https://links.example.test:8443',
          tls: { enabled: true, port: 0, ...files },
        },
      },
      inbound: { proxy_protocol_from: from },
      submission: { proxy_protocol_from: from },
    },
  })
  const { httpsPorts, inboundSmtpPort = 0 } = appliance
  const nodes = {
    25: inboundSmtpPort,
    465: ports.tls ?? 0,
    443: httpsPorts.public ?? 0,
    8080: httpsPorts.private ?? 0,
  }
  const open: Record<string, number> = {}
  let settings = readFileSync('systemd/haproxy.cfg.example', 'utf8')
    .replace(/^ +server mail2 .*\n/gm, '')
    // As many files as a test may open.
    .replace(/maxconn .*/, 'maxconn 100')
    .replace(/default-server .*/, (line) => `${line} source ${balancer}`)
    .replace('check port 8080', `check port ${nodes[8080]}`)
  for (const [usual, port] of Object.entries(nodes)) {
    open[usual] = await freePort()
    settings = settings
      .replace(new RegExp(`bind \\S*:${usual}$`, 'm'), `bind 127.0.0.1:${open[usual]}`)
      .replace(`10.0.0.11:${usual}\n`, `127.0.0.1:${port}\n`)
  }
  const file = join(t.testdir({}), 'haproxy.cfg')
  writeFileSync(file, settings)
  const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })
  t.equal(checked.status, 0, checked.stderr)
  const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  const ended = once(haproxy, 'exit')
  t.teardown(async () => {
    haproxy.kill('SIGTERM')
    await ended
  })
  const connect = async (usual: keyof typeof nodes, by = client): Promise<Socket> => {
    const socket = connectTcp({ port: open[usual] ?? 0, host: '127.0.0.1', localAddress: by })
    await once(socket, 'connect')
    return socket
  }

  const limits = { networks: ['127.0.7.0/24'] }
  const { key } = await createKey({ store, clock: systemClock }, accountId, 'near', { limits })
  const statusOf = async (by: string) => {
    const raw = new RawConnection(await connect(8080, by))
    const answer = await raw
      .write(get('/v1/domains', 'localhost', `Authorization: Bearer ${key}\r\n`))
      .response()
    await raw.destroy()
    return answer?.status
  }
  // Till its first check of the node it may hand on nothing.
  await eventually(async () => (await statusOf(client).catch(() => undefined)) === 200, 20_000)
  t.equal(await statusOf('127.0.8.1'), 403, 'from elsewhere')

  const secured = connectTls({ socket: await connect(443), rejectUnauthorized: false })
  await once(secured, 'secureConnect')
  const page = new RawConnection(secured)
  t.equal((await page.write(get('/', 'links.example.test')).response())?.status, 200)
  await page.destroy()

  const submitting = connectTls({ socket: await connect(465), rejectUnauthorized: false })
  await once(submitting, 'data')
  submitting.end('QUIT\r\n')
  await once(submitting, 'close')
  const sessions = async () =>
    (await listSessions(store.read, { refused: false, limit: 10 })).map(
      ({ remote_address: address }) => address,
    )
  await eventually(async () => (await sessions()).includes(client), 20_000)

  const { talk } = await Talk.greeted(t, open[25] ?? 0, client)
  await talk.upToData(['postmaster@localhost'], 'ada@example.test')
  talk.write('From: Ada <ada@example.test>\r\nSubject: Hello\r\n\r\nHello.')
  t.match(await talk.say('\r\n.'), /^250 /)
  await eventually(async () => {
    const [mail] = await listOperatorMails(store.read, 9)
    return mail?.remoteAddress === client
  }, 20_000)
})
