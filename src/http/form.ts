import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'
import { parseMultipart } from './multipart.js'

export interface FormFile {
  filename: string
  contentType: string
  bytes: Buffer
}

/** What a browser's form or a file upload sent. */
export interface Form {
  get(name: string): string | undefined
  all(name: string): string[]
  /** Names and values in the order in which they were sent, without files. */
  entries(): readonly (readonly [string, string])[]
  file(name: string): FormFile | undefined
  /** All files of a field that takes several. */
  files(name: string): FormFile[]
  /**
   * Equal for two forms with the same fields and files; only the ends of a large file are compared.
   */
  digest(): string
}

/**
 * No form of ours has a tenth as many; each costs a hundred times the byte or two in which it was sent.
 */
export const maxFields = 1_000

/** Throws a 415 for anything but the two types that HTML forms send, and a 400 for more fields than `maxFields`. */
export function parseForm(bytes: Buffer, contentType: string | undefined): Form {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded') {
    refuseMany(bytes)
    return makeForm([...new URLSearchParams(bytes.toString('utf8'))], [])
  }
  if (type === 'multipart/form-data') return formOfParts(bytes, contentType ?? '')
  // HTML §4.10.21.8 has `text/plain` as a third type, which cannot be parsed unambiguously.
  throw new ApiError('unsupported_media_type', 'Send the body as multipart/form-data')
}

// Counts the fields before any is parsed.
function refuseMany(bytes: Buffer): void {
  let fields = 1
  for (let at = bytes.indexOf('&'); at !== -1; at = bytes.indexOf('&', at + 1)) {
    if (++fields > maxFields) {
      throw new ApiError('validation_error', `The form has more than ${maxFields} fields`)
    }
  }
}

/** For requests that carry no form, such as a GET. */
export const emptyForm: Form = makeForm([], [])

function formOfParts(bytes: Buffer, contentType: string): Form {
  const fields: [string, string][] = []
  const files: [string, FormFile][] = []
  for (const part of parseMultipart(bytes, contentType)) {
    if (part.filename === undefined) {
      fields.push([part.name, part.bytes.toString('utf8')])
    } else {
      const { filename, contentType: type, bytes: content } = part
      files.push([part.name, { filename, contentType: type, bytes: content }])
    }
  }
  return makeForm(fields, files)
}

/** A form in which some fields have another value, or are added. */
export const formWith = (form: Form, values: ReadonlyMap<string, string>): Form => {
  const entries = form.entries().filter(([name]) => !values.has(name))
  return {
    get: (name) => values.get(name) ?? form.get(name),
    all: (name) => (values.has(name) ? [values.get(name) ?? ''] : form.all(name)),
    entries: () => [...entries, ...values],
    file: form.file,
    files: form.files,
    digest: form.digest,
  }
}

/** A form whose fields have other names. */
export const formNamed = (form: Form, named: (name: string) => string): Form => ({
  ...makeForm(
    form.entries().map(([name, value]): [string, string] => [named(name), value]),
    [],
  ),
  file: form.file,
  files: form.files,
  digest: form.digest,
})

function makeForm(fields: [string, string][], files: [string, FormFile][]): Form {
  return {
    get: (name) => fields.find(([key]) => key === name)?.[1],
    all: (name) => fields.filter(([key]) => key === name).map(([, value]) => value),
    entries: () => fields,
    file: (name) => files.findLast(([key]) => key === name)?.[1],
    files: (name) => files.filter(([key]) => key === name).map(([, file]) => file),
    digest: () => digestOf(fields, files),
  }
}

// Reading this much takes as long as making a page.
const endBytes = 65_536

function digestOf(fields: [string, string][], files: [string, FormFile][]): string {
  const sum = createHash('sha256').update(JSON.stringify(fields))
  for (const [name, { filename, bytes }] of files) {
    sum.update(JSON.stringify([name, filename, bytes.length]))
    sum.update(bytes.subarray(0, endBytes)).update(bytes.subarray(-endBytes))
  }
  return sum.digest('base64')
}
