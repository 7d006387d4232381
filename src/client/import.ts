import { type Query, route } from './call.js'
import { ImportInterrupted, isPosthornError } from './errors.js'
import { type CallOptions, type Core, request } from './request.js'
import type { Imported } from './types.js'

/** A file, a stream of bytes, or in Node, Bun and Deno the path of a file. */
export type ImportSource = Blob | AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | string

const importName = 'POST /v1/contacts/{listId}/import'

/**
 * Imports a CSV file while it is read. It is never repeated by itself, as some rows may be in already: an
 * ImportInterrupted says how many, as far as the server told. The same file may be imported again.
 */
export async function importContacts(
  core: Core,
  listId: string,
  file: ImportSource,
  query?: Query<typeof importName>,
  options: CallOptions = {},
): Promise<Imported> {
  const own = { timeout: 600_000, ...options }
  try {
    const asked = { ...route(importName, [listId]), query, once: true, ...formOf(file) }
    return (await request(core, asked, own)) as Imported
  } catch (error) {
    const { imported } = ((isPosthornError(error) && error.body) || {}) as { imported?: number }
    const broken = isPosthornError(error) && error.status === 0
    if (!isPosthornError(error) || (imported === undefined && !broken)) throw error
    const { code, status, body, requestId } = error
    const counted = imported === undefined ? 'nobody knows how many are in' : `${imported} are in`
    throw new ImportInterrupted(`The import ended in the middle, ${counted}: ${error.message}`, {
      code,
      status,
      body,
      requestId,
      cause: error,
    })
  }
}

/** A form of one field, streamed: the file is never held as a whole. */
function formOf(file: ImportSource) {
  const boundary = `posthorn-${crypto.randomUUID()}`
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="contacts.csv"\r\nContent-Type: text/csv\r\n\r\n`
  return {
    body: streamOf(parts(head, bytesOf(file), `\r\n--${boundary}--\r\n`)),
    contentType: `multipart/form-data; boundary=${boundary}`,
  }
}

async function* parts(head: string, bytes: AsyncIterable<Uint8Array>, tail: string) {
  const encoder = new TextEncoder()
  yield encoder.encode(head)
  yield* bytes
  yield encoder.encode(tail)
}

function streamOf(bytes: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await bytes.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await bytes.return(undefined)
    },
  })
}

interface Files {
  createReadStream(path: string): AsyncIterable<Uint8Array>
}

function bytesOf(file: ImportSource): AsyncIterable<Uint8Array> {
  if (file instanceof Blob) return file.stream() as AsyncIterable<Uint8Array>
  if (typeof file !== 'string') return file as AsyncIterable<Uint8Array>
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown }
  }
  const files = process?.getBuiltinModule?.('node:fs') as Files | undefined
  if (files === undefined) throw new TypeError('There are no files here: give a Blob or a stream')
  return files.createReadStream(file)
}
