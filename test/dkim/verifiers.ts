import { spawnSync } from 'node:child_process'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import {
  type DkimAlgorithm,
  type DkimKey,
  dkimRecord,
  generateDkimKeyPair,
  makeDkimKey,
  signMessage,
} from '../../src/dkim/index.js'

/** A signing key and where its public half is published. */
export interface PublishedKey {
  key: DkimKey
  name: string
  record: string
}

/** A new key of `example.com`, published in a table that both verifiers read. */
export async function publishedKey(algorithm: DkimAlgorithm): Promise<PublishedKey> {
  const { privateKeyPem, publicKeyBase64 } = await generateDkimKeyPair(algorithm)
  const selector = algorithm.replace('-sha256', '1')
  const domain = 'example.com'
  return {
    key: makeDkimKey({ domain, selector, algorithm, privateKey: privateKeyPem }),
    name: `${selector}._domainkey.${domain}`,
    record: dkimRecord({ algorithm, publicKeyBase64 }),
  }
}

export const timeSeconds = 1_700_000_000

/** The whole message, signed with every key, as SMTP carries it: its last line ended. */
export function signed(message: { header: Buffer; body: Buffer }, keys: PublishedKey[]): Buffer {
  const signatures = signMessage(
    message,
    keys.map(({ key }) => key),
    { timeSeconds },
  )
  const blankLine = Buffer.from('\r\n')
  const lineEnd = /(?:^|\r\n)$/.test(message.body.toString('latin1')) ? '' : '\r\n'
  return Buffer.concat([signatures, message.header, blankLine, message.body, Buffer.from(lineEnd)])
}

/** mailauth's verdict on each signature, in order. */
export async function mailauthVerdicts(raw: Buffer, keys: PublishedKey[]): Promise<string[]> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => {
      const found = keys.find((key) => key.name === name)
      if (found === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
      return [[found.record]]
    },
  })
  return results.map(({ status }) => status.result ?? 'none')
}

/** Why Debian's python3-dkim cannot be asked here; never so in CI, where its absence fails. */
export const pythonDkimMissing =
  process.env.CI === undefined &&
  spawnSync('/usr/bin/python3', ['-c', 'import dkim, nacl']).status !== 0
    ? 'python3-dkim missing'
    : false

const pythonVerify = `
import base64, dkim, json, sys
asked = json.load(sys.stdin)
def dnsfunc(name, timeout=5):
    return asked['records'].get(name.decode().rstrip('.'), '').encode()
def verdicts(raw):
    message = dkim.DKIM(base64.b64decode(raw))
    said = []
    for i in range(asked['signatures']):
        try:
            said.append(bool(message.verify(i, dnsfunc=dnsfunc)))
        except dkim.DKIMException as error:
            said.append(False)
    return said
json.dump([verdicts(raw) for raw in asked['messages']], sys.stdout)
`

/** python3-dkim's verdict on each signature of each message. */
export function pythonVerdicts(messages: Buffer[], keys: PublishedKey[]): boolean[][] {
  const { stdout, stderr, status } = spawnSync('/usr/bin/python3', ['-c', pythonVerify], {
    input: JSON.stringify({
      messages: messages.map((raw) => raw.toString('base64')),
      records: Object.fromEntries(keys.map(({ name, record }) => [name, record])),
      signatures: keys.length,
    }),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`python3-dkim: ${stderr}`)
  return JSON.parse(stdout)
}
