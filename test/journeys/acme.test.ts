// Thorough: appliances that wait for an authority.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { jsonOf, runCli } from '../cli/run.js'
import { type AcmeDirectory, acmeDirectory } from '../support/acme-directory.js'
import { acmeSettings, offeredAt } from '../support/acme-rig.js'
import { freePort } from '../support/free-port.js'
import { aboutSqlite } from '../support/postgres.js'
import { initSandbox, type Serving, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.setTimeout(180_000)
const tls = testCertificates(t, 'acme.test')
const dayMs = 86_400_000

t.test(
  'an appliance gets its certificate, offers it at once, and renews it in service',
  async (t) => {
    const { directory, start, offered, settings, dataDir } = await machine(t)
    // Old from the first day on: it is to be renewed as soon as it is there.
    directory.behaviour.life = (now) => ({ beganAt: now - 80 * dayMs, endsAt: now + 10 * dayMs })
    await start()
    const first = await until(() => offered('mail.test'))
    t.equal(first.issuer, 'ACME test authority')
    directory.behaviour.life = (now) => ({ beganAt: now, endsAt: now + 90 * dayMs })
    // The connection that a client holds meanwhile goes on.
    const next = await until(async () => {
      const now = await offered('mail.test')
      return now !== undefined && now.serial !== first.serial ? now : undefined
    })
    t.ok(next.endsAt > first.endsAt)
    const { certificates } = await jsonOf<Listed>(
      t,
      ['certificate', 'list', '--json', '--data', dataDir],
      { env: settings },
    )
    t.match(certificates, [{ source: 'acme', name: 'mail.test', error: null, failures: 0 }])
  },
)

t.test(
  'an order that kill -9 cuts off is finished by the next start, with the same order',
  async (t) => {
    const { directory, start, offered, dataDir, settings } = await machine(t)
    directory.behaviour.hangsAt = /^POST \/finalize/
    const posthorn = await start()
    await until(async () => directory.requests.some((one) => one.startsWith('POST /finalize')))
    await posthorn.kill('SIGKILL')
    const listed = await runCli(['certificate', 'list', '--data', dataDir], { env: settings })
    t.equal(listed.status, 1, 'there is none yet')
    directory.behaviour.hangsAt = undefined
    await start()
    t.ok(await until(() => offered('mail.test')))
    t.equal(directory.orders.length, 1)
    t.equal(directory.accounts.size, 1)
  },
)

t.test('certificate renew says what is wrong, and gets it when that is mended', async (t) => {
  const { directory, start, offered, dataDir, settings, port } = await machine(t)
  directory.port80 = () => 1
  await start()
  const run = (...args: string[]) =>
    runCli(['certificate', ...args, '--data', dataDir], { env: settings })
  const refused = await run('renew', 'mail.test')
  t.equal(refused.status, 1)
  t.match(refused.stdout, /no new certificate yet: .*\(connection\)/, refused.stderr)
  t.match(refused.stdout, /How to fix it: let everybody reach port 80 of mail\.test/)
  t.match((await run('show', 'mail.test')).stdout, /What is wrong\s+.*\(connection\)/)
  t.match((await run('renew', 'other.test')).stderr, /is not a name that ACME gets.*mail\.test/)
  directory.port80 = () => port
  const done = await run('renew', 'mail.test')
  t.match(done.stdout, /^mail\.test has a new certificate until /, done.stderr)
  t.equal(done.status, 0)
  t.ok(await until(() => offered('mail.test')))
})

t.test('a restored appliance has its account and its certificate', aboutSqlite, async (t) => {
  const { directory, start, offered, dataDir, settings } = await machine(t)
  const posthorn = await start()
  await until(() => offered('mail.test'))
  await posthorn.kill('SIGTERM')
  const made = await jsonOf<{ file: string }>(t, ['backup', makeTempDir(t), '--data', dataDir], {
    env: settings,
  })
  const { file } = made
  const other = makeTempDir(t)
  const restore = await runCli(['restore', file, '--to', other], { env: settings })
  t.equal(restore.status, 0, restore.stderr)
  await start(other)
  t.ok(await until(() => offered('mail.test')))
  t.equal(directory.accounts.size, 1)
  t.equal(directory.orders.length, 1, 'which a backup brings along')
})

interface Listed {
  certificates: { source: string; name: string; error: string | null; failures: number }[]
}

/** A machine whose public listener is at free ports, at which the directory asks. */
async function machine(t: Test) {
  const made = await tls
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  const [port, tlsPort] = [await freePort(), await freePort()]
  const directory: AcmeDirectory = await acmeDirectory(t, {
    tls: made.valid,
    host: 'acme.test',
    port80: () => port,
  })
  const settings = {
    ...acmeSettings(dataDir, directory, made),
    POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
    POSTHORN_HTTP_PUBLIC_PORT: String(port),
    POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test',
    POSTHORN_HTTP_PUBLIC_TLS_ENABLED: 'true',
    POSTHORN_HTTP_PUBLIC_TLS_PORT: String(tlsPort),
    POSTHORN_CONFIG: join(makeTempDir(t), 'posthorn.toml'),
  }
  const names = ['acme.test', 'mail.test'].map((name) => `"${name}" = { a = ["127.0.0.1"] }`)
  writeFileSync(settings.POSTHORN_CONFIG, `[dns.static]\n${names.join('\n')}\n`)
  return {
    directory,
    dataDir,
    settings,
    port,
    start: (from = dataDir): Promise<Serving> => serve(t, from, settings),
    offered: (name: string) => offeredAt(tlsPort, name),
  }
}

async function until<T>(look: () => Promise<T>): Promise<NonNullable<T>> {
  for (let waited = 0; waited < 90_000; waited += 50) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('It does not come')
}
