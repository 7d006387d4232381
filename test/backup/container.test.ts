// Thorough: archives of 8 GiB, and encrypted ones damaged in every place.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { decrypt, encrypt, headRoom, readEncryptedHead } from '../../src/backup/cipher.js'
import { openContainer, writeContainer } from '../../src/backup/container.js'
import { isAllowedName } from '../../src/backup/manifest.js'
import { readTar, type TarFile, writeTar } from '../../src/backup/tar.js'
import { unpackBackup } from '../../src/backup/unpack.js'
import { makeTempDir } from '../support/store.js'

const passphrase = 'correct horse battery staple'
const head = { madeAt: '2026-11-22T03:00:00.000Z', posthorn: '0.1.0', schema: '0043-backups' }

/** In pieces of odd sizes, as a stream has them. */
async function* pieces(bytes: Buffer, size = 100_003): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function joined(bytes: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of bytes) parts.push(part)
  return Buffer.concat(parts)
}

const fileOf = (name: string, bytes: Buffer): TarFile => ({
  name,
  size: bytes.length,
  body: pieces(bytes),
})

const patterned = (size: number) =>
  Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, i) => i)))

t.test('what is written is a tar that any tar unpacks, and is read as it was', async (t) => {
  const dir = makeTempDir(t)
  const files = [0, 1, 511, 512, 513, 300_000].map(
    (size, i) => [`data/f${i}.toml`, patterned(size)] as const,
  )
  const archive = await joined(
    writeTar(
      files.map(([name, bytes]) => fileOf(name, bytes)),
      1e12,
    ),
  )
  t.equal(archive.length % 512, 0)
  writeFileSync(join(dir, 'all.tar'), archive)
  execFileSync('tar', ['xf', join(dir, 'all.tar'), '-C', dir])
  for (const [name, bytes] of files) t.ok(readFileSync(join(dir, name)).equals(bytes), name)
  let read = 0
  for await (const { name, size, body } of readTar(pieces(archive, 77), isAllowedName)) {
    const [expected, bytes = Buffer.alloc(0)] = files[read++] ?? []
    t.same([name, size], [expected, bytes.length])
    t.ok((await joined(body)).equals(bytes), name)
  }
  t.equal(read, files.length)
})

t.test('a file of more than 8 GiB has its size in the header', async (t) => {
  const size = 9 * 1024 ** 3
  const archive = writeTar([{ name: 'posthorn.db', size, body: pieces(Buffer.alloc(1)) }], 0)
  const { value: header } = await archive.next()
  const dir = makeTempDir(t)
  writeFileSync(join(dir, 'one.tar'), header ?? '')
  const listed = execFileSync('sh', ['-c', `tar tvf ${join(dir, 'one.tar')} 2>/dev/null || true`])
  t.match(String(listed), String(size))
  for await (const file of readTar(pieces(header ?? Buffer.alloc(0)), isAllowedName)) {
    t.equal(file.size, size)
    break
  }
})

/** A tar's header of any name and kind. */
function rawHeader(name: string, kind: string, size = 0, linkName = ''): Buffer {
  const block = Buffer.alloc(512)
  block.write(name)
  block.write('0000644\0', 100)
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  block.write('        ', 148)
  block.write(kind, 156)
  block.write(linkName, 157)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((all, byte) => all + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const manifest = (files: { name: string; size: number }[]) =>
  Buffer.from(
    JSON.stringify({
      format: 1,
      ...head,
      keyCheck: null,
      withKey: false,
      rows: {},
      files: files.map((file) => ({ ...file, sha256: '' })),
    }),
  )

const padded = (bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])

t.test('an archive that would write elsewhere is refused, and nothing is written', async (t) => {
  const hostile: [why: string, header: Buffer, reason: RegExp][] = [
    ['a way up', rawHeader('../evil.toml', '0'), /contains "\.\.\/evil\.toml"/],
    ['a way up within', rawHeader('data/../../evil.toml', '0'), /which no backup does/],
    ['an absolute name', rawHeader('/tmp/evil.toml', '0'), /which no backup does/],
    ['another name', rawHeader('posthorn.lock', '0'), /which no backup does/],
    ['a log beside the database', rawHeader('posthorn.db-wal', '0'), /which no backup does/],
    ['a hidden file', rawHeader('data/.evil.toml', '0'), /which no backup does/],
    ['a symbolic link', rawHeader('appliance.key', '2', 0, '/etc/shadow'), /not a plain file/],
    ['a hard link', rawHeader('posthorn.db', '1', 0, '/etc/shadow'), /not a plain file/],
    ['a directory', rawHeader('data/a.toml', '5'), /not a plain file/],
    ['a device', rawHeader('data/a.toml', '3'), /not a plain file/],
    ['an extended header', rawHeader('data/a.toml', 'x'), /not a plain file/],
    ['a second manifest', rawHeader('manifest.json', '0'), /which no backup does/],
    ['a bad checksum', Buffer.alloc(512, 65), /not a tar archive/],
  ]
  for (const [why, header, reason] of hostile) {
    const dir = makeTempDir(t)
    const into = join(dir, 'a', 'b')
    mkdirSync(into, { recursive: true })
    const first = manifest([])
    const file = join(dir, 'hostile.tar')
    const start = [rawHeader('manifest.json', '0', first.length), padded(first)]
    writeFileSync(file, Buffer.concat([...start, header, Buffer.alloc(1_024)]))
    const passphrase = async () => ''
    await t.rejects(unpackBackup(file, into, { passphrase }), { message: reason }, why)
    t.same(readdirSync(into), [], why)
    t.notOk(existsSync(join(dir, 'evil.toml')) || existsSync(join(dir, 'a', 'evil.toml')), why)
  }
})

t.test('what does not fit its manifest is refused', async (t) => {
  const refused = async (archive: Buffer, reason: RegExp) => {
    const dir = makeTempDir(t)
    writeFileSync(join(dir, 'one.tar'), archive)
    mkdirSync(join(dir, 'in'))
    const unpacked = unpackBackup(join(dir, 'one.tar'), join(dir, 'in'), {
      passphrase: async () => '',
    })
    await t.rejects(unpacked, { message: reason })
  }
  const tar = (files: TarFile[]) => joined(writeTar(files, 0))
  const key = Buffer.from('key')
  const named = (files: { name: string; size: number }[]) =>
    fileOf('manifest.json', manifest(files))
  await refused(await tar([fileOf('appliance.key', key)]), /does not begin with its manifest/)
  await refused(await tar([fileOf('manifest.json', Buffer.from('{"format":2}'))]), /newer version/)
  await refused(await tar([named([]), fileOf('appliance.key', key)]), /not what the manifest says/)
  await refused(
    await tar([named([{ name: 'appliance.key', size: 3 }])]),
    /appliance\.key is missing/,
  )
  const listed = named([{ name: 'appliance.key', size: 3 }])
  await refused(await tar([listed, fileOf('appliance.key', key)]), /checksum of appliance\.key/)
  await refused(Buffer.alloc(0), /ends too early/)
  await refused(rawHeader('manifest.json', '0', 100), /ends too early/)
})

const chunk = 262_144

t.test('bytes of every length come back from their encryption', async (t) => {
  for (const size of [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 17]) {
    const plain = patterned(size)
    const sealed = await joined(encrypt(pieces(plain), passphrase, head))
    t.notOk(size > 100 && sealed.includes(plain.subarray(0, 100)), 'it is not readable')
    t.ok((await opened(sealed)).equals(plain), `${size} bytes`)
  }
})

const opened = (sealed: Buffer, word = passphrase) => {
  const start = sealed.subarray(0, headRoom)
  const end = readEncryptedHead(start)?.end ?? 0
  return joined(decrypt(pieces(sealed.subarray(end)), start, word))
}

t.test('an encrypted backup that was changed anywhere is not opened', async (t) => {
  const plain = patterned(3 * chunk + 500)
  const sealed = await joined(encrypt(pieces(plain), passphrase, head))
  const start = readEncryptedHead(sealed)?.end ?? 0
  const chunkAt = (number: number) => start + number * (chunk + 16)
  const part = (number: number) => sealed.subarray(chunkAt(number), chunkAt(number + 1))
  const before = sealed.subarray(0, start)
  const others = await joined(encrypt(pieces(plain), passphrase, head))
  const cases: [why: string, bytes: Buffer][] = [
    ['two chunks swapped', Buffer.concat([before, part(1), part(0), part(2), part(3)])],
    ['two later chunks swapped', Buffer.concat([before, part(0), part(2), part(1), part(3)])],
    ['a chunk left out', Buffer.concat([before, part(0), part(2), part(3)])],
    ['a chunk repeated', Buffer.concat([before, part(0), part(0), part(1), part(2), part(3)])],
    ['the last chunk cut off', sealed.subarray(0, chunkAt(3))],
    ['the end cut off', sealed.subarray(0, -1)],
    ['something appended', Buffer.concat([sealed, Buffer.alloc(1)])],
    ['a chunk of another file', Buffer.concat([before, part(0), others.subarray(chunkAt(1))])],
    ['nothing but the head', before],
  ]
  for (const [why, bytes] of cases) {
    await t.rejects(opened(bytes), { message: /damaged|passphrase is wrong/ }, why)
  }
  for (const at of [chunkAt(0), chunkAt(1) + 5, chunkAt(2) - 1, sealed.length - 1]) {
    const flipped = Buffer.from(sealed)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    await t.rejects(opened(flipped), { message: /damaged|was changed/ }, `a bit at ${at}`)
  }
  const changed = Buffer.from(sealed)
  changed.write('1999', changed.indexOf('2026'))
  await t.rejects(opened(changed), { message: /beginning of the backup was changed/ })
  await t.rejects(opened(sealed, 'another passphrase'), { message: /passphrase is wrong/ })
  t.ok((await opened(sealed, passphrase.normalize('NFD'))).equals(plain))
})

t.test('a head that asks for too much memory is refused before it is used', async (t) => {
  const sealed = await joined(encrypt(pieces(Buffer.alloc(10)), passphrase, head))
  const text = sealed.toString('latin1')
  for (const [from, to] of [
    ['"logN":17', '"logN":31'],
    ['"chunkBytes":262144', '"chunkBytes":999999999'],
  ] as const) {
    const changed = Buffer.from(text.replace(from, to), 'latin1')
    changed.writeUInt32BE(changed.readUInt32BE(8) + to.length - from.length, 8)
    t.throws(() => readEncryptedHead(changed), { message: /head cannot be read/ })
  }
})

t.test('a container is whole under its name or not there at all', async (t) => {
  const dir = makeTempDir(t)
  const plain = patterned(2_000_000)
  for (const compress of [false, true]) {
    for (const word of [undefined, passphrase]) {
      const file = join(dir, `one-${compress}-${word !== undefined}`)
      await writeContainer(file, pieces(plain), { compress, passphrase: word, head })
      const back = await openContainer(file, async () => word ?? '')
      t.ok((await joined(back)).equals(plain))
    }
  }
  const before = readdirSync(dir)
  async function* broken(): AsyncGenerator<Buffer> {
    yield plain
    throw new Error('the source broke')
  }
  for (const compress of [false, true]) {
    const wrapping = { compress, passphrase, head }
    await t.rejects(writeContainer(join(dir, 'two'), broken(), wrapping), {
      message: /source broke/,
    })
  }
  t.same(readdirSync(dir), before)
})

t.test('a backup is not written through what somebody has planted', async (t) => {
  const dir = makeTempDir(t)
  const theirs = join(dir, 'theirs')
  writeFileSync(theirs, 'of another')
  const file = join(dir, 'one')
  symlinkSync(theirs, `${file}.partial`)
  const wrapping = { compress: false, passphrase: undefined, head }
  await t.rejects(writeContainer(file, pieces(patterned(10)), wrapping), { code: 'EEXIST' })
  t.equal(readFileSync(theirs, 'utf8'), 'of another')
})

t.test('a gzip that is cut off or changed is told as damage', async (t) => {
  const dir = makeTempDir(t)
  const file = join(dir, 'one')
  await writeContainer(file, pieces(patterned(500_000)), {
    compress: true,
    passphrase: undefined,
    head,
  })
  const bytes = readFileSync(file)
  for (const changed of [bytes.subarray(0, -20), flippedIn(bytes, bytes.length >> 1)]) {
    writeFileSync(file, changed)
    await t.rejects(readAll(file), { message: /backup is damaged/ })
  }
})

const flippedIn = (bytes: Buffer, at: number): Buffer => {
  const flipped = Buffer.from(bytes)
  flipped[at] = (flipped[at] ?? 0) ^ 0xff
  return flipped
}

const readAll = async (file: string) => joined(await openContainer(file, async () => ''))
