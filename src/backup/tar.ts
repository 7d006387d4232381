import { OperatorError } from '../errors/index.js'

/**
 * A tar archive (POSIX.1-2017 pax, 'ustar Interchange Format') of plain files, written and read as a stream. Any tar
 * unpacks what is written here. The reader takes only what is written this way: files whose names its caller allows, no
 * links, no directories, no extensions; so no archive writes where it likes.
 */
export interface TarFile {
  name: string
  size: number
  body: AsyncIterable<Buffer>
}

const blockBytes = 512
// Greater sizes have no room in eleven octal digits; every tar reads GNU's form for them.
const maxOctalSize = 8 ** 11 - 1

/**
 * A tar (POSIX ustar) of these files, all with one time in ms. Throws when a file has another size than it said, as its
 * header has been written already.
 */
export async function* writeTar(
  files: Iterable<TarFile>,
  modifiedAt: number,
): AsyncGenerator<Buffer> {
  for (const { name, size, body } of files) {
    yield header(name, size, modifiedAt)
    let written = 0
    for await (const chunk of body) {
      written += chunk.length
      yield chunk
    }
    if (written !== size) throw new Error(`${name} has ${written} bytes instead of ${size}`)
    yield padding(size)
  }
  yield Buffer.alloc(2 * blockBytes)
}

const padding = (size: number) => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

function header(name: string, size: number, modifiedAt: number): Buffer {
  const block = Buffer.alloc(blockBytes)
  if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long a name`)
  block.write(name, 0)
  block.write('0000600\0', 100)
  block.write('0000000\0', 108)
  block.write('0000000\0', 116)
  writeSize(block, size)
  block.write(`${octal(Math.floor(modifiedAt / 1_000), 11)}\0`, 136)
  block.write('0', 156)
  block.write('ustar\x0000', 257)
  block.write(`${octal(checksum(block), 6)}\0 `, 148)
  return block
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')

function writeSize(block: Buffer, size: number): void {
  if (size <= maxOctalSize) {
    block.write(`${octal(size, 11)}\0`, 124)
    return
  }
  block.writeUInt8(0x80, 124)
  block.writeBigUInt64BE(BigInt(size), 128)
}

/** The sum of the header's bytes; its own bytes count as spaces. */
function checksum(block: Buffer): number {
  let sum = 0
  for (const [i, byte] of block.entries()) sum += i >= 148 && i < 156 ? 32 : byte
  return sum
}

/**
 * The files of an archive, in their order. Each body is read to its end before the next file is asked for. `isAllowed`
 * says which names may be there. Any other name, anything that is no plain file, and an archive that ends early are
 * refused with an OperatorError.
 */
export async function* readTar(
  bytes: AsyncIterable<Buffer>,
  isAllowed: (name: string) => boolean,
): AsyncGenerator<TarFile> {
  const input = blocksOf(bytes)
  const seen = new Set<string>()
  for (;;) {
    const block = await input.take(blockBytes)
    if (block.every((byte) => byte === 0)) break
    const { name, size } = readHeader(block)
    if (!isAllowed(name) || seen.has(name)) {
      throw broken(`it contains ${JSON.stringify(name)}, which no backup does`)
    }
    seen.add(name)
    const body = input.chunks(size)
    yield { name, size, body }
    for await (const _rest of body) {
      // Reads on where the caller did not want the body.
    }
    await input.take(padding(size).length)
  }
  // What follows has no files; but a file that is cut off, or not authentic there, fails here.
  await input.rest()
}

function readHeader(block: Buffer): { name: string; size: number } {
  const text = (from: number, to: number) =>
    block.toString('latin1', from, to).replace(/\0.*$/s, '')
  const sum = Number.parseInt(text(148, 156), 8)
  if (text(257, 263) !== 'ustar' || sum !== checksum(block)) throw broken('it is not a tar archive')
  const name = text(0, 100)
  if (block.toString('latin1', 156, 157) !== '0') {
    throw broken(`${JSON.stringify(name)} in it is not a plain file`)
  }
  const isBinary = block.readUInt8(124) === 0x80
  const size = isBinary
    ? Number(block.readBigUInt64BE(128))
    : Number.parseInt(text(124, 136).trim(), 8)
  if (!Number.isSafeInteger(size) || size < 0) throw broken('a size in it cannot be read')
  return { name, size }
}

const broken = (what: string) => new OperatorError(`The backup is damaged: ${what}`)

function blocksOf(bytes: AsyncIterable<Buffer>) {
  const source = bytes[Symbol.asyncIterator]()
  let left: Buffer = Buffer.alloc(0)
  const more = async () => {
    const next = await source.next()
    if (next.done) throw broken('it ends too early')
    left = next.value
  }
  async function* chunks(size: number): AsyncGenerator<Buffer> {
    for (let wanted = size; wanted > 0; ) {
      if (left.length === 0) await more()
      const chunk = left.subarray(0, wanted)
      left = left.subarray(chunk.length)
      wanted -= chunk.length
      yield chunk
    }
  }
  return {
    chunks,
    async take(size: number): Promise<Buffer> {
      const parts: Buffer[] = []
      for await (const part of chunks(size)) parts.push(part)
      return Buffer.concat(parts)
    },
    async rest(): Promise<void> {
      while (!(await source.next()).done) {
        // Read only.
      }
    },
  }
}
