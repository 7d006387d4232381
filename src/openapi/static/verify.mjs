// Node: node verify.mjs SECRET SIGNATURE < body. Or: import { verifyWebhook } from 'posthorn'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

export function verify(rawBody, header, secret) {
  const fields = header.split(',')
  const at = fields.find((field) => /^t=\d+$/.test(field))?.slice(2)
  if (at === undefined || Math.abs(Date.now() / 1000 - Number(at)) > 300) return false
  const expected = createHmac('sha256', secret).update(`${at}.`).update(rawBody).digest()
  return fields
    .filter((field) => /^v1=[0-9a-f]{64}$/.test(field))
    .some((field) => timingSafeEqual(Buffer.from(field.slice(3), 'hex'), expected))
}

const [, , secret, header] = process.argv
process.exitCode = verify(readFileSync(0), header, secret) ? 0 : 1
