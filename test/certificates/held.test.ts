import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { placeCertificate } from '../../src/certificates/files.js'
import { type CertificateFiles, openCertificates } from '../../src/certificates/index.js'
import {
  answerTo,
  bringCertificates,
  keepAnswer,
  removeAnswers,
  shareFiles,
} from '../../src/certificates/shared.js'
import { setRow } from '../../src/certificates/state.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { type TestCertificate, testCertificates } from '../support/tls.js'

const made = testCertificates(t, 'mail.test')

const filesOf = ({ certFile, keyFile }: TestCertificate): CertificateFiles => ({
  certificate: certFile,
  key: keyFile,
})

const open = (t: Test, options: { dataDir?: string; files?: CertificateFiles[] } = {}) => {
  const { dataDir = makeTempDir(t), files = [] } = options
  const errors: unknown[] = []
  const log = { ...silentLog, error: (fields: unknown) => void errors.push(fields) }
  const held = openCertificates({ dataDir, log, files, usual: 'mail.test' })
  return { ...held, dataDir, errors, namesFor: (name?: string) => held.forName(name)?.names }
}

const bring = async (dataDir: string, name: string) => {
  const { issue } = await made
  const { cert, key } = await issue(name)
  placeCertificate(dataDir, name, { key, chain: cert })
  return cert
}

t.test('without a certificate there is none for anybody', async (t) => {
  t.equal(open(t).forName('mail.test'), undefined)
})

t.test('a client is offered the certificate of the name that it asks for', async (t) => {
  const dataDir = makeTempDir(t)
  for (const name of ['mail.test', 'links.shop.test']) await bring(dataDir, name)
  const { namesFor } = open(t, { dataDir })
  t.same(namesFor('links.shop.test'), ['links.shop.test'])
  t.same(namesFor('LINKS.shop.test.'), ['links.shop.test'], 'however it is spelled')
  t.same(namesFor('unknown.test'), ['mail.test'], 'another name: the usual one')
  t.same(namesFor(), ['mail.test'], 'no name: the usual one')
})

t.test('a pair of files wins over ACME, but only for its own names', async (t) => {
  const { issue, valid } = await made
  const dataDir = makeTempDir(t)
  await bring(dataDir, 'mail.test')
  await bring(dataDir, 'links.shop.test')
  const star = await issue('*.shop.test')
  const { forName } = open(t, { dataDir, files: [filesOf(valid), filesOf(star)] })
  t.equal(forName('mail.test')?.source, 'file')
  t.same(forName('links.shop.test')?.names, ['*.shop.test'], 'a star stands for one label')
  t.same(forName('a.links.shop.test')?.names, ['mail.test'], 'and for no second one')
  const { isFor } = open(t, { dataDir, files: [filesOf(star)] })
  t.equal(isFor('Links.shop.test'), true)
  for (const odd of [
    'evil.test/.shop.test',
    'u:p@x.shop.test',
    '[::1]/.shop.test',
    'a?.shop.test',
  ]) {
    t.equal(isFor(odd), false, `${odd} is no name, whatever a star would cover`)
  }
})

t.test('files that are no use stop the start, and tell it', async (t) => {
  const { valid, expired } = await made
  t.throws(() => open(t, { files: [{ certificate: valid.certFile, key: expired.keyFile }] }), {
    message: /cannot be used/,
  })
})

t.test('a renewed certificate is told to listeners, once', async (t) => {
  const dataDir = makeTempDir(t)
  await bring(dataDir, 'mail.test')
  const held = open(t, { dataDir })
  let changes = 0
  const forget = held.onChange(() => {
    changes++
  })
  held.reload()
  t.equal(changes, 0, 'nothing is new')
  const cert = await bring(dataDir, 'mail.test')
  held.reload()
  held.reload()
  t.equal(changes, 1)
  t.equal(String(held.forName('mail.test')?.cert), cert, 'without the key of the same file')
  forget()
  await bring(dataDir, 'mail.test')
  held.reload()
  t.equal(changes, 1, 'who has left is not called')
})

t.test('half a pair, or a damaged file, leaves what was there', async (t) => {
  const { issue } = await made
  const dir = makeTempDir(t)
  const files = { certificate: join(dir, 'a.crt'), key: join(dir, 'a.key') }
  const [first, second] = [await issue('mail.test'), await issue('mail.test')]
  writeFileSync(files.certificate, first.cert)
  writeFileSync(files.key, first.key)
  const { forName, reload, errors } = open(t, { files: [files] })
  writeFileSync(files.certificate, second.cert)
  reload()
  t.equal(String(forName()?.cert), first.cert)
  t.match(errors, [{ cause: /cannot be used/ }])
  writeFileSync(files.key, second.key)
  reload()
  t.equal(String(forName()?.cert), second.cert)
})

t.test('files that cannot be looked at leave what was there, and end nothing', async (t) => {
  const { issue } = await made
  const [dir, dataDir] = [makeTempDir(t), makeTempDir(t)]
  await bring(dataDir, 'links.shop.test')
  const files = { certificate: join(dir, 'a.crt'), key: join(dir, 'a.key') }
  const pair = await issue('mail.test')
  writeFileSync(files.certificate, pair.cert)
  writeFileSync(files.key, pair.key)
  const { namesFor, reload, errors, onChange } = open(t, { files: [files], dataDir })
  // As a folder that this user may not enter (EACCES), but for root too: ELOOP, and ENOTDIR.
  rmSync(files.certificate)
  symlinkSync(files.certificate, files.certificate)
  rmSync(join(dataDir, 'certificates'), { recursive: true })
  writeFileSync(join(dataDir, 'certificates'), '')
  reload()
  t.same(namesFor('mail.test'), ['mail.test'])
  t.same(namesFor('links.shop.test'), ['links.shop.test'])
  t.match(errors, [{ cause: /ELOOP/ }, { cause: /ENOTDIR/ }, { cause: /cannot be used/ }])
  rmSync(files.certificate)
  writeFileSync(files.certificate, pair.cert)
  onChange(() => {
    throw new Error('a listener')
  })
  reload()
  t.match(errors.at(-1), { cause: 'a listener' })
  t.same(namesFor('mail.test'), ['mail.test'])
})

t.test('only the owner can read a key, whatever the umask is', async (t) => {
  const before = process.umask(0)
  t.teardown(() => process.umask(before))
  const dataDir = makeTempDir(t)
  await bring(dataDir, 'mail.test')
  const dir = join(dataDir, 'certificates')
  chmodSync(join(dir, 'mail.test.pem'), 0o644)
  await bring(dataDir, 'mail.test')
  t.equal(statSync(dir).mode & 0o777, 0o700)
  t.equal(statSync(join(dir, 'mail.test.pem')).mode & 0o777, 0o600)
  t.same(readdirSync(dir), ['mail.test.pem'], 'no rest of the writing is left')
  t.match(
    readFileSync(join(dir, 'mail.test.pem'), 'utf8'),
    /^-----BEGIN PRIVATE KEY[\s\S]+CERTIFICATE/,
  )
})

t.test('a challenge is answered while its order is under way, by its token alone', async (t) => {
  const token = 'x'.repeat(43)
  const store = await openTestStore(t)
  const answer = (of: string) => answerTo(store.read, of)
  t.equal(await answer(token), undefined)
  await keepAnswer(store, token, `${token}.thumbprint`)
  t.equal(await answer(token), `${token}.thumbprint`)
  for (const other of ['../mail.test.pem', '..', '', `${token}/..`, `${token}.partial`]) {
    t.equal(await answer(other), undefined, other)
  }
  await removeAnswers(store)
  t.equal(await answer(token), undefined)
  await t.rejects(keepAnswer(store, `../${token}`, 'x'), 'a directory does not choose the path')
})

t.test('a certificate that one node has got is a file at all of them', async (t) => {
  const store = await openTestStore(t)
  const { issue } = await made
  const { cert, key } = await issue('mail.test')
  const appliance = makeApplianceKey(Buffer.alloc(32, 7))
  const at = (dataDir: string) => ({ store, key: appliance, dataDir })
  const known = new Map<string, string>()
  const [one, two] = [makeTempDir(t), makeTempDir(t)]
  placeCertificate(one, 'mail.test', { key, chain: cert })
  await setRow(store, 'mail.test', { next_at: 1 })
  // As a release left it that kept certificates as files alone.
  await shareFiles(at(one))
  const row = await store.read.selectFrom('certificates').selectAll().executeTakeFirstOrThrow()
  t.notMatch(row.sealed?.toString('latin1'), /PRIVATE KEY|BEGIN/, 'the database has it sealed')
  await bringCertificates(at(two), known, { removes: true })
  t.equal(String(open(t, { dataDir: two }).forName('mail.test')?.cert), cert)
  const file = join(two, 'certificates', 'mail.test.pem')
  t.equal(statSync(file).mode & 0o777, 0o600)
  rmSync(file)
  await bringCertificates(at(two), known, { removes: true })
  t.equal(
    readFileSync(file, 'utf8'),
    readFileSync(join(one, 'certificates', 'mail.test.pem'), 'utf8'),
  )
  await store.write((tx) => tx.deleteFrom('certificates').execute())
  await bringCertificates(at(two), known, { removes: true })
  t.equal(open(t, { dataDir: two }).forName('mail.test'), undefined, 'and it goes with its name')
})

t.test('a name that is not a host name becomes no path', async (t) => {
  for (const name of ['../x.test', '.x', 'a/b', '', 'a..b', 'x'.repeat(300)]) {
    t.throws(() => placeCertificate(makeTempDir(t), name, { key: '', chain: '' }), name)
  }
})
