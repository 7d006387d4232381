import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import type { Test } from 'tap'
import {
  answerTo,
  areCertificatesDue,
  openCertificates,
  renewCertificates,
} from '../../src/certificates/index.js'
import { type Config, loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { type AcmeDirectory, acmeDirectory } from './acme-directory.js'
import { FakeClock } from './clock.js'
import { type FakeResolver, fakeResolver } from './resolver.js'
import { makeTempDir, openTestStore } from './store.js'
import type { TestCertificate } from './tls.js'

export interface AcmeTls {
  ca: TestCertificate
  valid: TestCertificate
}

/** The settings for a directory, as environment variables; a file makes its authority trusted. */
export function acmeSettings(dataDir: string, { url }: AcmeDirectory, { ca }: AcmeTls) {
  const caFile = join(dataDir, 'directory-ca.pem')
  writeFileSync(caFile, ca.cert)
  return {
    POSTHORN_TLS_ACME: 'true',
    POSTHORN_TLS_AGREE_TO_TERMS: 'true',
    POSTHORN_TLS_DIRECTORY: url,
    POSTHORN_TLS_DIRECTORY_CA: caFile,
  }
}

/** The code that gets certificates, without an appliance: with a fake clock, a directory and a listener. */
export async function acmeRig(
  t: Test,
  tls: AcmeTls,
  options: { env?: Record<string, string>; names?: string } = {},
) {
  const { names = 'mail.test' } = options
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const resolver = fakeResolver({ 'acme.test': { a: ['127.0.0.1'] } })
  for (const name of names.split(',')) resolver.set(name, { a: ['127.0.0.1'] })
  const store = await openTestStore(t, { dataDir, clock })
  const listener = await challengeListener(t, (token) => answerTo(store.read, token))
  const directory = await acmeDirectory(t, {
    tls: tls.valid,
    host: 'acme.test',
    port80: () => listener.port,
    now: () => clock.now(),
  })
  const config = loadConfig({
    env: {
      POSTHORN_INBOUND_ENABLED: 'false',
      POSTHORN_TLS_NAMES: names,
      ...acmeSettings(dataDir, directory, tls),
      ...options.env,
    },
  })
  const stopping = new AbortController()
  const deps = {
    store,
    clock,
    config,
    dataDir,
    resolver,
    key,
    log: silentLog,
    random: () => 0,
    signal: stopping.signal,
  }
  const held = () => openCertificates({ dataDir, log: silentLog, files: [], usual: 'mail.test' })
  return {
    clock,
    dataDir,
    resolver,
    directory,
    config,
    store,
    listener,
    stopping,
    deps,
    renew: () => renewCertificates(deps),
    isDue: () => areCertificatesDue(deps),
    /** What a listener offers for the name now. */
    certificate: (name = 'mail.test') => {
      const found = held().forName(name)
      return found?.names.includes(name) ? found : undefined
    },
    row: (name = 'mail.test') =>
      store.read.selectFrom('certificates').selectAll().where('name', '=', name).executeTakeFirst(),
    account: () => store.read.selectFrom('acme_accounts').selectAll().executeTakeFirst(),
  }
}

export type AcmeRig = Awaited<ReturnType<typeof acmeRig>> & {
  config: Config
  resolver: FakeResolver
}

/** Port 80 of every name: what the public listener does with challenges, and nothing else. */
export async function challengeListener(
  t: Pick<Test, 'teardown'>,
  answer: (token: string) => Promise<string | undefined>,
) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`)
    const token = request.url?.split('/').at(-1) ?? ''
    void answer(token).then((found) => {
      response.writeHead(found === undefined ? 404 : 200).end(found)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  return { port: (server.address() as AddressInfo).port, asked }
}

/** The certificate that a client is offered for the name; undefined where nobody answers, or none is offered. */
export function offeredAt(port: number, servername: string) {
  return new Promise<{ serial: string; issuer: string; endsAt: number } | undefined>((resolve) => {
    const socket = tlsConnect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
    socket.once('error', () => resolve(undefined))
    socket.once('secureConnect', () => {
      const { serialNumber, issuer, valid_to } = socket.getPeerCertificate()
      socket.destroy()
      resolve({ serial: serialNumber, issuer: `${issuer.CN}`, endsAt: Date.parse(valid_to) })
    })
  })
}
