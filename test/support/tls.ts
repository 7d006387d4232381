import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A certificate with its key, as PEM and as files. */
export interface TestCertificate {
  cert: string
  key: string
  certFile: string
  keyFile: string
}

export interface TestCertificates {
  /** The authority that signed all but `selfSigned`. */
  ca: TestCertificate
  /** For `name` and 127.0.0.1, in force today. */
  valid: TestCertificate
  expired: TestCertificate
  /** For `elsewhere.example`. */
  wrongName: TestCertificate
  selfSigned: TestCertificate
  /** One more from the same authority, or signed by another certificate. */
  issue(name: string, signer?: TestCertificate): Promise<TestCertificate>
}

/**
 * Makes certificates with the openssl command, in a directory that the test's end removes. This takes about 0.1 s, so
 * make them once in a test file.
 */
export async function testCertificates(
  t: { teardown(remove: () => unknown): void },
  name = 'mx.example.test',
): Promise<TestCertificates> {
  const dir = await mkdtemp(join(tmpdir(), 'posthorn-tls-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  const openssl = (...args: string[]) => run('openssl', args, { cwd: dir })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = (host: string) => `subjectAltName=DNS:${host},IP:127.0.0.1`

  const standAlone = async (file: string, host: string, ...more: string[]) => {
    const out = ['-keyout', `${file}.key`, '-out', `${file}.crt`]
    await openssl('req', '-x509', ...newKey, ...out, '-subj', `/CN=${host}`, '-days', '30', ...more)
    return await load(dir, file)
  }
  const issued = async (file: string, host: string, by?: TestCertificate) => {
    const out = ['-keyout', `${file}.key`, '-out', `${file}.csr`]
    await openssl('req', ...newKey, ...out, '-subj', `/CN=${host}`)
    await writeFile(join(dir, `${file}.ext`), names(host))
    const issuer = ['-CA', by?.certFile ?? 'ca.crt', '-CAkey', by?.keyFile ?? 'ca.key']
    const signer = [...issuer, '-set_serial', `0x${serial(file)}`]
    const result = ['-in', `${file}.csr`, '-out', `${file}.crt`, '-extfile', `${file}.ext`]
    await openssl('x509', '-req', ...result, ...signer, '-days', '30')
    return await load(dir, file)
  }
  // `openssl x509` takes no end before today: `-days -1` is an error since OpenSSL 3.4.
  const endedYesterday = async (file: string, host: string) => {
    await issued(file, host)
    await writeFile(join(dir, 'ca.cnf'), caSettings)
    await writeFile(join(dir, 'ca.index'), '')
    // The serial is in a file: OpenSSL 3.0 asks for one even beside `-rand_serial`.
    await writeFile(join(dir, 'ca.serial'), `${serial(file)}\n`)
    const dates = ['-startdate', daysAgo(31), '-enddate', daysAgo(1)]
    const signer = ['-config', 'ca.cnf', '-cert', 'ca.crt', '-keyfile', 'ca.key']
    const result = ['-in', `${file}.csr`, '-out', `${file}.crt`, '-extfile', `${file}.ext`]
    await openssl('ca', '-batch', '-notext', ...signer, ...result, ...dates)
    return await load(dir, file)
  }

  const ca = await standAlone('ca', 'Posthorn test authority')
  const [valid, expired, wrongName, selfSigned] = await Promise.all([
    issued('valid', name),
    endedYesterday('expired', name),
    issued('wrong-name', 'elsewhere.example'),
    standAlone('self-signed', name, '-addext', names(name)),
  ])
  return {
    ca,
    valid,
    expired,
    wrongName,
    selfSigned,
    issue: (host, signer) => issued(host.replace('*', 'any'), host, signer),
  }
}

const caSettings = `
[ca]
default_ca = test
[test]
database = ca.index
serial = ca.serial
new_certs_dir = .
default_md = sha256
policy = any
[any]
commonName = supplied
`

/** A time in the form of openssl: YYMMDDHHMMSSZ. */
function daysAgo(days: number): string {
  const at = new Date(Date.now() - days * 86_400_000)
  return `${at.toISOString().replace(/\D/g, '').slice(2, 14)}Z`
}

async function load(dir: string, file: string): Promise<TestCertificate> {
  const certFile = join(dir, `${file}.crt`)
  const keyFile = join(dir, `${file}.key`)
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
  return { cert, key, certFile, keyFile }
}

function serial(file: string): string {
  return Buffer.from(file).toString('hex').slice(0, 16)
}
