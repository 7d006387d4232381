// Issue 'What operators and developers ask' 1: the appliance's key can be replaced.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { applianceKeyFile, startAppliance } from '../../src/app/index.js'
import { finishRotation, sealedColumns } from '../../src/app/reseal.js'
import { loadPlans } from '../../src/billing/index.js'
import {
  acmeAccountPurpose,
  certificateFilePurpose,
  certificatePurpose,
} from '../../src/certificates/index.js'
import {
  addNewestKey,
  createApplianceKeyFile,
  dropEndedKeys,
  keyCheckOf,
  loadConfig,
  openApplianceKey,
} from '../../src/config/index.js'
import { makeReturnPaths } from '../../src/deliveries/index.js'
import { addDomain, signingKeys } from '../../src/domains/index.js'
import { makeSignupTokens } from '../../src/forms/index.js'
import { silentLog } from '../../src/log/index.js'
import { addPerson, totpPurpose } from '../../src/people/index.js'
import { makePreferenceLinks, makeUnsubscribeLinks } from '../../src/preferences/index.js'
import type { Store } from '../../src/store/index.js'
import { makeTrackingTokens } from '../../src/tracking/index.js'
import { addEndpoint, rotateSecret } from '../../src/webhooks/index.js'
import { runCli } from '../cli/run.js'
import { FakeClock } from '../support/clock.js'
import { eventually } from '../support/eventually.js'
import { mortalStore } from '../support/mortal-store.js'
import { databaseSettings } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { rsaPair } from '../support/template.js'

const dayMs = 86_400_000
const accountId = '01a1fc92-0000-7000-8000-0a1b2c3d4e5f'
const emailId = '01a1fc92-0000-7000-8000-1a1b2c3d4e5f'

/** One secret of each kind, sealed by the key of a file. */
async function openSecrets(t: Test) {
  const dataDir = makeTempDir(t)
  const file = applianceKeyFile(dataDir)
  createApplianceKeyFile(file)
  const key = openApplianceKey(file)
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock, key }
  const account = await createAccount(deps, 'City')
  const pair = { trust: true, rsaPair: await rsaPair() }
  const { id: domainId } = await addDomain(deps, account.id, 'city.test', pair)
  const given = { url: 'https://hooks.test/', events: ['email.delivered'] as const }
  const hook = await addEndpoint(deps, loadPlans('config/plans.toml'), account.id, given)
  await rotateSecret(deps, account.id, hook.id, dayMs)
  const { person } = await addPerson(deps, {
    email: 'a@city.test',
    name: 'Ada',
    isOperator: false,
    membership: undefined,
  })
  await store.write(async (tx) => {
    const totp = key.seal('JBSWY3DPEHPK3PXP', totpPurpose(person.id))
    await tx.updateTable('users').set({ totp_secret: totp }).execute()
    const directory = 'https://acme.test/dir'
    await tx
      .insertInto('acme_accounts')
      .values({
        directory,
        key: key.seal('pem', acmeAccountPurpose(directory)),
        url: null,
        email: '',
        failures: 0,
        next_at: 0,
        error: null,
      })
      .execute()
    await tx
      .insertInto('certificates')
      .values({
        name: 'mail.test',
        failures: 0,
        failed_since: null,
        ordered_at: null,
        next_at: 0,
        renew_at: null,
        error: null,
        fix: null,
        order_url: null,
        order_key: key.seal('pem', certificatePurpose('mail.test')),
        sealed: key.seal('pem', certificateFilePurpose('mail.test')),
      })
      .execute()
    await tx
      .insertInto('appliance')
      .values({ id: 1, key_check: keyCheckOf(key) })
      .execute()
  })
  return { store, clock, file, key, domainId, database: { dataDir } }
}

/** How many sealed values each column has, and how many of them the newest key has not sealed. */
async function standing(store: Store, file: string) {
  const key = openApplianceKey(file)
  const all: Record<string, [rows: number, old: number]> = {}
  for (const [name, { next, purposeOf }] of Object.entries(sealedColumns)) {
    const rows = (await next(store.read, '', 100)).filter(({ sealed }) => sealed !== null)
    const old = rows.filter(
      ({ of, sealed }) => !key.isNewest(sealed ?? Buffer.alloc(0), purposeOf(of)),
    )
    for (const { of, sealed } of rows) key.unseal(sealed ?? Buffer.alloc(0), purposeOf(of))
    all[name] = [rows.length, old.length]
  }
  return all
}

t.test('a rotation that is killed before any of its commits is finished by the next', async (t) => {
  const { store, clock, file, key, domainId, database } = await openSecrets(t)
  for (let commits = 0, isOver = false; !isOver; commits++) {
    t.ok(commits < 30)
    // A second rotation before the first has ended keeps both older keys.
    addNewestKey(file, clock.now() + dayMs)
    const mortal = mortalStore(store, commits)
    const ring = openApplianceKey(file)
    const done = finishRotation({ store: mortal.store, key: ring, database })
    isOver = (await Promise.race([mortal.died, done])) !== 'died'
    // Throws where something could not be read in between.
    await standing(store, file)
  }
  const { checks } = openApplianceKey(file)
  t.ok(checks.length > 5)
  for (const [name, [rows, old]] of Object.entries(await standing(store, file))) {
    t.ok(rows > 0, `the test has a secret in ${name}`)
    t.equal(old, 0, `${name} is sealed by the newest key`)
  }
  const { key_check } = await store.read
    .selectFrom('appliance')
    .select('key_check')
    .executeTakeFirstOrThrow()
  t.equal(key_check, checks[0])
  t.ok(dropEndedKeys(file, clock.now() + dayMs))
  const newest = openApplianceKey(file)
  t.equal(newest.checks.length, 1)
  t.ok(
    await signingKeys(store.read, newest, domainId),
    'the domain signs with the newest key alone',
  )
  await t.rejects(signingKeys(store.read, key, domainId), 'and not with the first any more')
})

t.test('nothing that is sealed is forgotten by a rotation', async (t) => {
  const files = [
    'certificates/account.ts',
    'certificates/renew.ts',
    'certificates/shared.ts',
    'domains/domain.ts',
    'webhooks/endpoint.ts',
    'people/totp.ts',
    // In a cookie, for ten minutes.
    'people/provider.ts',
    // Between nodes, good for a minute.
    'nodes/ring-seal.ts',
    // By a code, for an hour.
    'nodes/invite.ts',
  ]
  const { readdirSync } = await import('node:fs')
  const sealing = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.ts') &&
      !name.startsWith('app/reseal') &&
      /[kK]ey\.seal\(/.test(readFileSync(join('src', name), 'utf8')),
  )
  t.same(sealing.sort(), files.sort(), 'who seals more adds it to app/reseal.ts')
})

t.test('what was signed before is understood until the end of the old key', async (t) => {
  const file = join(makeTempDir(t), 'appliance.key')
  createApplianceKeyFile(file)
  const clock = new FakeClock()
  const before = openApplianceKey(file)
  const copy = { accountId, emailId, deliveryId: 4_711 }
  const target = 'https://shop.test/'
  const signed = {
    unsubscribe: makeUnsubscribeLinks(before, '').url({ accountId, address: 'a@b.test' }),
    preferences: makePreferenceLinks(before, '').url({ accountId, address: 'a@b.test' }),
    open: makeTrackingTokens(before).open(copy),
    click: makeTrackingTokens(before).click({ ...copy, links: 1, target }),
    path: makeReturnPaths(before).addressOf(4_711, 'bounce.test'),
    confirmation: makeSignupTokens(before, clock).confirmation('entry'),
  }
  const understood = () => {
    const key = openApplianceKey(file)
    const end = (url: string) => url.split('/').at(-1) ?? ''
    return [
      makeUnsubscribeLinks(key, '').read(end(signed.unsubscribe)),
      makePreferenceLinks(key, '').read(end(signed.preferences)),
      makeTrackingTokens(key).readOpen(signed.open),
      makeTrackingTokens(key).readClick(signed.click),
      makeReturnPaths(key).deliveryOf(signed.path),
      makeSignupTokens(key, clock).readConfirmation(signed.confirmation),
    ].filter((one) => one !== undefined).length
  }
  addNewestKey(file, clock.now() + 90 * dayMs)
  addNewestKey(file, clock.now() + 90 * dayMs)
  t.equal(understood(), 6)
  t.notOk(dropEndedKeys(file, clock.now() + 89 * dayMs))
  t.equal(understood(), 6)
  t.ok(dropEndedKeys(file, clock.now() + 90 * dayMs))
  t.equal(understood(), 0)
  for (const damage of ['', 'no key\n', `${Buffer.alloc(32).toString('base64')} until never\n`]) {
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, whole + damage)
    if (damage !== '') t.throws(() => openApplianceKey(file), /is damaged/)
    writeFileSync(file, whole)
  }
})

t.test('a running appliance is in the way; the next start finishes and mail leaves', async (t) => {
  const posthorn = await startPosthorn(t)
  const { dataDir, store } = posthorn
  const env = databaseSettings(dataDir)
  const rotate = (...more: string[]) =>
    runCli(['key-file', 'rotate', '--yes', '--json', '--data', dataDir, ...more], { env })
  const before = openApplianceKey(applianceKeyFile(dataDir))
  t.match(await rotate(), { status: 1, stderr: /serves .+ already/ })
  t.equal(openApplianceKey(applianceKeyFile(dataDir)).checks.length, 1, 'nothing was changed')
  await posthorn.appliance.close()
  // As far as a rotation comes that is killed behind its first step.
  addNewestKey(applianceKeyFile(dataDir), Date.now() + dayMs)
  const config = loadConfig({
    file: join(dataDir, 'posthorn.toml'),
    env: {
      ...env,
      POSTHORN_HTTP_PRIVATE_PORT: '0',
      POSTHORN_HTTP_PUBLIC_PORT: '0',
      POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
      POSTHORN_SANDBOX_SMTP_PORT: '0',
      POSTHORN_INBOUND_HOST: '127.0.0.1',
      POSTHORN_INBOUND_PORT: '0',
      POSTHORN_OUTBOUND_ROUTE: 'sandbox',
      POSTHORN_OUTBOUND_THREADS: '1',
      POSTHORN_LOG_LEVEL: 'error',
    },
  })
  const appliance = await startAppliance({ config, dataDir, log: silentLog })
  t.teardown(() => appliance.close())
  t.same(
    Object.values(await standing(store, applianceKeyFile(dataDir))).map(([, old]) => old),
    [0, 0, 0, 0, 0, 0, 0],
  )
  const link = makeUnsubscribeLinks(before, appliance.publicUrl ?? '')
  const url = link.url({ accountId: posthorn.accountId, address: 'a@b.test' })
  const answer = await fetch(
    `http://127.0.0.1:${appliance.publicPort}${new URL(url, 'http://x').pathname}`,
  )
  t.equal(answer.status, 200, 'a link of before works')
  await answer.text()
  const sent = await fetch(`${appliance.privateUrl}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${posthorn.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ from: 'a@sender.test', to: 'b@x.test', subject: 'Hi', html: 'Hi' }),
  })
  t.equal(sent.status, 200)
  await eventually(async () => {
    const [one] = await store.read.selectFrom('sandbox_sources').select('raw').execute()
    return one !== undefined && /^DKIM-Signature: /m.test(one.raw.toString('latin1'))
  }, 10_000)
  await appliance.close()
  const done = JSON.parse((await rotate('--old-links', '0s')).stdout)
  t.match(done, { resealed: 2, unreadable: {}, oldLinksUntil: null })
  t.equal(openApplianceKey(applianceKeyFile(dataDir)).checks.length, 1, 'a key that leaked is gone')
  // Killed behind its first step: the next try makes no further key.
  addNewestKey(applianceKeyFile(dataDir), Date.now() + dayMs)
  const [begun = ''] = openApplianceKey(applianceKeyFile(dataDir)).checks
  const ended = JSON.parse((await rotate('--old-links', '0s')).stdout)
  t.match(ended, { isBrokenOff: true, resealed: 2 })
  t.same(openApplianceKey(applianceKeyFile(dataDir)).checks, [begun])
  const shown = await runCli(['key-file', 'show', '--json', '--data', dataDir], { env })
  t.match(JSON.parse(shown.stdout), { keys: [{ name: ended.key, until: null }] })
})
