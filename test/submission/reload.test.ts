// A renewed certificate is used without a restart: SIGHUP.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:tls'
import t from 'tap'
import { Talk } from '../sandbox/talk.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

t.setTimeout(120_000)

const der = ({ cert }: TestCertificate) => new X509Certificate(cert).raw

/** The certificate of a listener that speaks TLS at once. */
async function shownAt(port: number): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return raw
}

t.test(
  'SIGHUP: sessions from then on have the new certificate, a broken one changes nothing',
  async (t) => {
    const { valid, issue } = await testCertificates(t, 'localhost')
    const renewed = await issue('localhost')
    const dataDir = makeTempDir(t)
    initSandbox(dataDir)
    const posthorn = await serve(t, dataDir, {
      POSTHORN_SUBMISSION_ENABLED: 'true',
      POSTHORN_SUBMISSION_STARTTLS: '127.0.0.1:0',
      POSTHORN_SUBMISSION_TLS: '127.0.0.1:0',
      POSTHORN_SUBMISSION_CERTIFICATE: valid.certFile,
      POSTHORN_SUBMISSION_KEY: valid.keyFile,
      POSTHORN_HTTP_PUBLIC_URL: 'https://localhost',
      POSTHORN_HTTP_PUBLIC_TLS_ENABLED: 'true',
      POSTHORN_HTTP_PUBLIC_TLS_PORT: '0',
      POSTHORN_HTTP_PUBLIC_TLS_CERTIFICATE: valid.certFile,
      POSTHORN_HTTP_PUBLIC_TLS_KEY: valid.keyFile,
    })
    const portOf = (listener: string): number =>
      Number(new RegExp(`"port":(\\d+),"listener":"${listener}"`).exec(posthorn.log())?.[1] ?? 0)
    while (portOf('tls') === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    const byStartTls = async () => {
      const talk = await Talk.open(t, portOf('starttls'))
      await talk.say('EHLO client.test')
      await talk.say('STARTTLS')
      const raw = await talk.secure()
      return { talk, raw }
    }
    const before = await byStartTls()
    t.same([before.raw, await shownAt(portOf('tls'))], [der(valid), der(valid)])
    t.same(await shownAt(portOf('public')), der(valid), 'HTTPS has it')

    copyFileSync(renewed.certFile, valid.certFile)
    copyFileSync(renewed.keyFile, valid.keyFile)
    posthorn.process.kill('SIGHUP')
    while (!(await shownAt(portOf('tls'))).equals(der(renewed)));
    const after = await byStartTls()
    t.same(after.raw, der(renewed), 'STARTTLS has it too')
    while (!(await shownAt(portOf('public'))).equals(der(renewed)));
    t.match(await before.talk.say('EHLO client.test'), /AUTH PLAIN/, 'who was there goes on')

    writeFileSync(valid.certFile, 'no certificate')
    posthorn.process.kill('SIGHUP')
    while (!/A certificate is not used/.test(posthorn.log())) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    t.same([(await byStartTls()).raw, await shownAt(portOf('tls'))], [der(renewed), der(renewed)])
  },
)
