import t from 'tap'
import { get, openOverTls } from '../https/start.js'
import { acmeDirectory } from '../support/acme-directory.js'
import { acmeSettings } from '../support/acme-rig.js'
import { FakeClock } from '../support/clock.js'
import { startPosthorn } from '../support/posthorn.js'
import { rawRequest } from '../support/raw-http.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.setTimeout(180_000)
const dayMs = 86_400_000

t.test('ACME from nothing to HTTPS, and its renewal, while nobody is cut off', async (t) => {
  const tls = await testCertificates(t, 'acme.test')
  let port80 = 0
  const directory = await acmeDirectory(t, {
    tls: tls.valid,
    host: 'acme.test',
    port80: () => port80,
    now: () => Date.now(),
  })
  // Such that it is to be renewed at once.
  directory.behaviour.life = (now) => ({ beganAt: now - 80 * dayMs, endsAt: now + 10 * dayMs })
  const dataDir = makeTempDir(t)
  const clock = new FakeClock(Date.now())
  const { appliance } = await startPosthorn(t, {
    clock,
    dataDir,
    settings: {
      http: { public: { url: 'https://links.example.test', tls: { enabled: true, port: 0 } } },
    },
    env: {
      ...acmeSettings(dataDir, directory, tls),
      POSTHORN_OUTBOUND_HELO_NAME: 'links.example.test',
      POSTHORN_JOBS_CERTIFICATES: '34 5 * * *',
    },
    dns: { 'acme.test': { a: ['127.0.0.1'] }, 'links.example.test': { a: ['127.0.0.1'] } },
  })
  port80 = appliance.publicPort
  const port = appliance.httpsPorts.public ?? 0
  const shown = async () => {
    try {
      const { raw, socket } = await openOverTls(port, {
        servername: 'links.example.test',
        ca: directory.root,
      })
      const { authorized } = socket
      const { serialNumber } = socket.getPeerCertificate()
      await raw.destroy()
      return { authorized, serialNumber }
    } catch {
      return undefined
    }
  }
  /** Time passes for the chores of the main thread, until the job's thread has done its work. */
  const until = async (
    isSo: (now: Awaited<ReturnType<typeof shown>>) => boolean,
    meanwhile = async () => {},
  ) => {
    for (;;) {
      await meanwhile()
      const now = await shown()
      if (isSo(now)) return now
      await clock.advance(10_000)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const open = await rawRequest(port80, get('/', 'links.example.test'))
  t.equal(open?.status, 200, 'before the first certificate pages are served without TLS')
  const first = await until((now) => now !== undefined)
  t.equal(first?.authorized, true)
  const kept = await openOverTls(port, { servername: 'links.example.test' })
  t.equal((await kept.raw.write(get('/')).response())?.status, 200)
  t.equal((await rawRequest(port80, get('/', 'links.example.test')))?.status, 301)

  directory.behaviour.life = (now) => ({ beganAt: now, endsAt: now + 90 * dayMs })
  // uWS closes what has been silent for ten seconds.
  const ask = async () => {
    t.equal((await kept.raw.write(get('/')).response())?.status, 200, 'who was there goes on')
  }
  const second = await until((now) => now?.serialNumber !== first?.serialNumber, ask)
  t.equal(second?.authorized, true)
  await ask()
  await kept.raw.destroy()
})
