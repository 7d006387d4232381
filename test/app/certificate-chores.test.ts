import { copyFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { renewedCertificates } from '../../src/app/certificate-chores.js'
import { loadConfig } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.test('files that cannot be looked at are waited for, from the start on', async (t) => {
  const { valid } = await testCertificates(t, 'mail.test')
  const dir = makeTempDir(t)
  const certificate = join(dir, 'a.crt')
  // ELOOP, which root meets too, unlike the EACCES of a folder that is closed.
  const close = () => symlinkSync(certificate, certificate)
  const config = loadConfig({
    env: {
      POSTHORN_INBOUND_TLS_CERTIFICATE: certificate,
      POSTHORN_INBOUND_TLS_KEY: valid.keyFile,
    },
  })
  close()
  let reloads = 0
  const [chore] = renewedCertificates(config, silentLog, () => {
    reloads++
  })
  const run = () => chore?.run(new AbortController().signal)
  await run()
  rmSync(certificate)
  copyFileSync(valid.certFile, certificate)
  await run()
  t.equal(reloads, 1)
  rmSync(certificate)
  close()
  await run()
  t.equal(reloads, 1)
})

t.test('files that have changed are read within 30 s, and half a pair is waited for', async (t) => {
  const { valid, wrongName } = await testCertificates(t, 'mail.test')
  const dir = makeTempDir(t)
  const [certificate, key] = [join(dir, 'a.crt'), join(dir, 'a.key')]
  copyFileSync(valid.certFile, certificate)
  copyFileSync(valid.keyFile, key)
  const config = loadConfig({
    env: { POSTHORN_INBOUND_TLS_CERTIFICATE: certificate, POSTHORN_INBOUND_TLS_KEY: key },
  })
  let reloads = 0
  const [chore] = renewedCertificates(config, silentLog, () => {
    reloads++
  })
  t.ok(chore && chore.everyMs <= 30_000)
  const run = () => chore?.run(new AbortController().signal)
  await run()
  t.equal(reloads, 0, 'as they were at the start')
  copyFileSync(wrongName.certFile, certificate)
  await run()
  t.equal(reloads, 0, 'the key is still that of before')
  copyFileSync(wrongName.keyFile, key)
  await run()
  t.equal(reloads, 1)
  await run()
  t.equal(reloads, 1)
})
