import { ApiError } from '../errors/index.js'
import { parseMultipart } from './multipart.js'

export interface FormFile {
  filename: string
  contentType: string
  bytes: Buffer
}

/** What a browser's form, or a file upload, has sent. */
export interface Form {
  get(name: string): string | undefined
  all(name: string): string[]
  file(name: string): FormFile | undefined
}

/** Throws a 415 for anything but the two types that HTML forms send. */
export function parseForm(bytes: Buffer, contentType: string | undefined): Form {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded') {
    return makeForm([...new URLSearchParams(bytes.toString('utf8'))], new Map())
  }
  if (type === 'multipart/form-data') return formOfParts(bytes, contentType ?? '')
  throw new ApiError('unsupported_media_type', 'Send the body as multipart/form-data')
}

/** For requests that carry no form, such as a GET. */
export const emptyForm: Form = makeForm([], new Map())

function formOfParts(bytes: Buffer, contentType: string): Form {
  const fields: [string, string][] = []
  const files = new Map<string, FormFile>()
  for (const part of parseMultipart(bytes, contentType)) {
    if (part.filename === undefined) {
      fields.push([part.name, part.bytes.toString('utf8')])
    } else {
      const { filename, contentType: type, bytes: content } = part
      files.set(part.name, { filename, contentType: type, bytes: content })
    }
  }
  return makeForm(fields, files)
}

function makeForm(fields: [string, string][], files: Map<string, FormFile>): Form {
  return {
    get: (name) => fields.find(([key]) => key === name)?.[1],
    all: (name) => fields.filter(([key]) => key === name).map(([, value]) => value),
    file: (name) => files.get(name),
  }
}
