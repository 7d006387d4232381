import { createHash, hash, sign } from 'node:crypto'
import { keepNewest } from '../bounded/index.js'
import { endWithOneLine, relaxBody, relaxHeader } from './canonical.js'
import type { DkimKey } from './key.js'

/**
 * A message, or its header with the result of `hashBody` for a body that is not held. Fields with names in
 * `customNames` are signed beside those that always are. `isRelaxed`: the writer of the body knows that relaxing
 * changes no line of it.
 */
export type ToSign = { header: Buffer; customNames?: readonly string[] } & (
  | { body: Buffer; isRelaxed?: boolean }
  | { bodyHash: string }
)

export interface SignOptions {
  /** Now, in Unix seconds (`t=`). */
  timeSeconds: number
  /** How long the signature shall hold (`x=`); without it, for ever. */
  expireSeconds?: number | undefined
}

/**
 * Signs a message with each key, relaxed/relaxed, over the whole body. Returns the
 * DKIM-Signature fields to put before the header, in the keys' order, each ended by CRLF.
 * Throws TypeError unless there is exactly one From.
 */
export function signMessage(
  message: ToSign,
  keys: readonly DkimKey[],
  options: SignOptions,
): Buffer {
  const content = digestContent(message)
  const fields = keys.map((key) => {
    const draft = draftSignature(content, key, options)
    return finishSignature(draft, signDigest(draft.signed, key).toString('base64'))
  })
  return Buffer.from(fields.join(''), 'latin1')
}

/** Makes signatures in the order of the calls, with the RSA work in a thread of its own. */
export interface Signer {
  /**
   * The signature of octets (as Latin-1 characters), in base64. Rejects when the key does not sign or
   * the thread has died; the next call starts another.
   */
  sign(text: string, key: DkimKey): Promise<string>
  /** Ends the thread; what is not signed yet is rejected. */
  close(): Promise<void>
}

/** Signs as `signMessage` does, with the RSA work in the signer's thread (0.27 ms of a core a message, Nov 2026). */
export async function signMessageAsync(
  message: ToSign,
  keys: readonly DkimKey[],
  options: SignOptions,
  signer: Pick<Signer, 'sign'>,
): Promise<Buffer> {
  const content = digestContent(message)
  const fields = await Promise.all(
    keys.map(async (key) => {
      const draft = draftSignature(content, key, options)
      return finishSignature(draft, await signer.sign(draft.signed, key))
    }),
  )
  return Buffer.from(fields.join(''), 'latin1')
}

/**
 * These are named once more than they occur, so that nobody can add one that the signature does not cover and that a
 * reader shows instead (RFC 6376 §8.15). Of other fields, those of `customNames` are signed.
 */
const oversigned = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'reply-to',
  'message-id',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'list-id',
  'feedback-id',
  'cfbl-address',
]

const isOversigned = (name: string) => oversigned.includes(name)

/** What all signatures of a message share. */
interface DigestedContent {
  signedNames: SignedNames
  /** The signed fields in the order of `h=`, each ended by CRLF. */
  signedFields: string
  bodyHash: string
}

function digestContent(message: ToSign): DigestedContent {
  const fields = relaxHeader(message.header)
  const { signedNames, order } = selectionOf(
    fields.map((field) => field.name),
    message.customNames ?? [],
  )
  let signedFields = ''
  for (const place of order) signedFields += `${fields[place]?.line}\r\n`
  const bodyHash = 'bodyHash' in message ? message.bodyHash : hashOf(message)
  return { signedNames, signedFields, bodyHash }
}

const hashOf = ({ body, isRelaxed }: { body: Buffer; isRelaxed?: boolean }): string =>
  hash('sha256', isRelaxed === true ? endWithOneLine(body) : relaxBody(body), 'base64')

/** The `h=` tag. */
interface SignedNames {
  /** In lines of at most 76 characters. */
  folded: string
  /** In one line, as it is signed. */
  unfolded: string
}

/** Which fields of a header are signed. */
interface Selection {
  signedNames: SignedNames
  /** Their places in the header, in the order of `h=`. */
  order: readonly number[]
}

// Most mails have the same fields as thousands before them.
const selections = new Map<string, Selection>()
const maxSelections = 500

function selectionOf(names: readonly string[], customNames: readonly string[]): Selection {
  // No name has a colon or a space in it.
  const key = `${names.join(':')} ${customNames.join(':')}`
  const known = selections.get(key)
  if (known !== undefined) return known
  const selection = selectFields(names, customNames)
  if (key.length <= 1_000) keepNewest(selections, key, selection, maxSelections)
  return selection
}

function selectFields(names: readonly string[], customNames: readonly string[]): Selection {
  const froms = names.filter((name) => name === 'from').length
  if (froms !== 1) throw new TypeError(`A message with ${froms} From fields cannot be signed`)
  const more = customNames.map((name) => name.toLowerCase()).filter((name) => !isOversigned(name))
  const lines: string[] = []
  const order: number[] = []
  let line = 'h='
  for (const name of [...oversigned, ...more]) {
    let items = 1
    // RFC 6376 §5.4.2: of several, the lowest is signed first.
    for (let i = names.length - 1; i >= 0; i--) {
      if (names[i] !== name) continue
      order.push(i)
      items++
    }
    for (; items > 0; items--) {
      if (line.length + name.length > 74) {
        lines.push(line)
        line = ''
      }
      line += `${name}:`
    }
  }
  lines.push(`${line.slice(0, -1)};`)
  return { signedNames: { folded: lines.join(fold), unfolded: lines.join(' ') }, order }
}

// White space that a reader may take for one space (RFC 6376 §2.8).
const fold = '\r\n '

interface SignatureDraft {
  /** The field up to and with `b=`, folded. */
  folded: string
  /** The octets to sign (RFC 6376 §3.7), as Latin-1 characters. */
  signed: string
}

function draftSignature(
  { signedNames, signedFields, bodyHash }: DigestedContent,
  { algorithm, domain, selector }: DkimKey,
  { timeSeconds, expireSeconds }: SignOptions,
): SignatureDraft {
  const expiry = expireSeconds === undefined ? '' : ` x=${timeSeconds + expireSeconds};`
  const tags = (names: string) => [
    `v=1; a=${algorithm}; c=relaxed/relaxed;`,
    `d=${domain};`,
    `s=${selector}; t=${timeSeconds};${expiry}`,
    names,
    `bh=${bodyHash};`,
    'b=',
  ]
  return {
    folded: `DKIM-Signature: ${tags(signedNames.folded).join(fold)}`,
    // Relaxing a fold leaves one space in its place.
    signed: `${signedFields}dkim-signature:${tags(signedNames.unfolded).join(' ')}`,
  }
}

/** A verifier drops white space inside `b=`, so it may be folded after signing. */
function finishSignature(draft: SignatureDraft, signature: string): string {
  let field = draft.folded
  for (let from = 0; from < signature.length; from += 72) {
    field += `${from === 0 ? '' : fold}${signature.slice(from, from + 72)}`
  }
  return `${field}\r\n`
}

/** RFC 8463 §3: Ed25519 signs the SHA-256 of the data, not the data. */
export function signDigest(data: string, key: Pick<DkimKey, 'algorithm' | 'privateKey'>): Buffer {
  const octets = Buffer.from(data, 'latin1')
  return key.algorithm === 'rsa-sha256'
    ? sign('sha256', octets, key.privateKey)
    : sign(null, createHash('sha256').update(octets).digest(), key.privateKey)
}
